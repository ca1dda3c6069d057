//! Figures as pictures, with a font of our own.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb::Database};

/// Dots of a picture per unit of the figure.
const RESOLUTION: f32 = 2.0;

/// A figure as a picture, two dots per unit.
///
/// # Errors
/// What is wrong with the text, or that the picture would be too large.
pub fn png(svg: &str) -> Result<Vec<u8>, String> {
    let mut fonts = Database::new();
    for font in [dejavu::sans_condensed::regular(), dejavu::sans_condensed::bold()] {
        fonts.load_font_data(font.to_vec());
    }
    let family = fonts.faces().next().and_then(|face| face.families.first()).map(|family| family.0.clone());
    fonts.set_sans_serif_family(family.unwrap_or_default());
    let options = Options { fontdb: Arc::new(fonts), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|error| error.to_string())?;
    let size = tree.size().to_int_size().scale_by(RESOLUTION).ok_or("it has no size")?;
    let mut picture = Pixmap::new(size.width(), size.height()).ok_or("it is too large")?;
    resvg::render(&tree, Transform::from_scale(RESOLUTION, RESOLUTION), &mut picture.as_mut());
    picture.encode_png().map_err(|error| error.to_string())
}
