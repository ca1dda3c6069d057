//! Where the boxes of a graph go: layers from left to right, few crossings, short arrows.

/// Room between boxes of a layer, and around an arrow that passes them.
const GAP: f64 = 18.0;
/// The height that an arrow takes where it passes a layer.
const PASSING: f64 = 12.0;
const SWEEPS: usize = 16;

/// Boxes with their corners, and the way of every arrow.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layout {
    pub(super) corners: Vec<[f64; 2]>,
    pub(super) ways: Vec<Vec<[f64; 2]>>,
    pub(super) size: [f64; 2],
}

/// The layer of every box: behind all that point at it; boxes that nothing points at stand just before the first they
/// point at. The arrows must have no cycle.
pub(super) fn layers(count: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut layer = vec![0; count];
    for _ in 0..count {
        for &(from, to) in edges {
            layer[to] = layer[to].max(layer[from] + 1);
        }
    }
    for vertex in 0..count {
        if edges.iter().all(|&(_, to)| to != vertex) {
            let first = edges.iter().filter(|(from, _)| *from == vertex).map(|&(_, to)| layer[to]).min();
            layer[vertex] = first.map_or(0, |first| first - 1);
        }
    }
    layer
}

/// A box, or an arrow on its way through a layer.
struct Vertex {
    layer: usize,
    height: f64,
    before: Vec<usize>,
    after: Vec<usize>,
    /// The middle.
    y: f64,
}

/// Places boxes of the given sizes.
pub(super) fn place(sizes: &[[f64; 2]], edges: &[(usize, usize)]) -> Layout {
    let layer = layers(sizes.len(), edges);
    let vertex = |(place, size): (usize, &[f64; 2])| Vertex {
        layer: layer[place],
        height: size[1],
        before: Vec::new(),
        after: Vec::new(),
        y: 0.0,
    };
    let mut vertices: Vec<Vertex> = sizes.iter().enumerate().map(vertex).collect();
    let mut chains: Vec<Vec<usize>> = Vec::with_capacity(edges.len());
    for &(from, to) in edges {
        let mut chain = vec![from];
        for passed in layer[from] + 1..layer[to] {
            chain.push(vertices.len());
            let (before, after) = (Vec::new(), Vec::new());
            vertices.push(Vertex { layer: passed, height: PASSING, before, after, y: 0.0 });
        }
        chain.push(to);
        for pair in chain.windows(2) {
            vertices[pair[0]].after.push(pair[1]);
            vertices[pair[1]].before.push(pair[0]);
        }
        chains.push(chain);
    }
    let depth = layer.iter().max().map_or(0, |deepest| deepest + 1);
    let rows = ordered(&vertices, depth);
    align(&mut vertices, &rows);
    let lowest = vertices.iter().map(|v| v.y + v.height / 2.0).fold(0.0, f64::max);
    let columns = columns(sizes, &layer, &chains, depth);
    let corners: Vec<[f64; 2]> = (0..sizes.len())
        .map(|place| {
            let (left, width) = columns[layer[place]];
            [left + (width - sizes[place][0]) / 2.0, vertices[place].y - sizes[place][1] / 2.0]
        })
        .collect();
    let ways = ways(sizes, &corners, &vertices, &chains, &columns);
    let right = columns.last().map_or(0.0, |(left, width)| left + width);
    Layout { corners, ways, size: [right, lowest] }
}

/// The boxes of every layer from top to bottom: sweeps to the means of the neighbours, the best order of all kept.
fn ordered(vertices: &[Vertex], depth: usize) -> Vec<Vec<usize>> {
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); depth];
    vertices.iter().enumerate().for_each(|(place, vertex)| rows[vertex.layer].push(place));
    let mut best = (crossings(vertices, &rows), rows.clone());
    for sweep in 0..SWEEPS {
        let forward = sweep % 2 == 0;
        for step in 1..depth {
            let layer = if forward { step } else { depth - 1 - step };
            let beside = if forward { layer - 1 } else { layer + 1 };
            let mut rank = vec![0.0; vertices.len()];
            rows[beside].iter().enumerate().for_each(|(place, &vertex)| rank[vertex] = place as f64);
            let mean = |(place, &vertex): (usize, &usize)| {
                let neighbours = if forward { &vertices[vertex].before } else { &vertices[vertex].after };
                let sum: f64 = neighbours.iter().map(|&other| rank[other]).sum();
                (if neighbours.is_empty() { place as f64 } else { sum / neighbours.len() as f64 }, vertex)
            };
            let mut means: Vec<(f64, usize)> = rows[layer].iter().enumerate().map(mean).collect();
            means.sort_by(|a, b| a.0.total_cmp(&b.0));
            rows[layer] = means.into_iter().map(|(_, vertex)| vertex).collect();
        }
        let count = crossings(vertices, &rows);
        if count < best.0 {
            best = (count, rows.clone());
        }
    }
    best.1
}

fn crossings(vertices: &[Vertex], rows: &[Vec<usize>]) -> usize {
    let mut rank = vec![0; vertices.len()];
    for row in rows {
        row.iter().enumerate().for_each(|(place, &vertex)| rank[vertex] = place);
    }
    let mut count = 0;
    for row in rows {
        let pairs: Vec<(usize, usize)> = row
            .iter()
            .flat_map(|&vertex| vertices[vertex].after.iter().map(move |&to| (vertex, to)))
            .map(|(from, to)| (rank[from], rank[to]))
            .collect();
        for (place, a) in pairs.iter().enumerate() {
            count += pairs[place + 1..]
                .iter()
                .filter(|b| (a.0 < b.0 && a.1 > b.1) || (a.0 > b.0 && a.1 < b.1))
                .count();
        }
    }
    count
}

/// Moves the boxes of every layer towards their neighbours, order and gaps kept.
fn align(vertices: &mut [Vertex], rows: &[Vec<usize>]) {
    for row in rows {
        let wanted = vec![0.0; row.len()];
        keep_order(vertices, row, &wanted);
    }
    for sweep in 0..SWEEPS {
        let forward = sweep % 2 == 0;
        for step in 0..rows.len() {
            let row = &rows[if forward { step } else { rows.len() - 1 - step }];
            let wanted: Vec<f64> = row
                .iter()
                .map(|&vertex| {
                    let (before, after) = (&vertices[vertex].before, &vertices[vertex].after);
                    // The last sweeps listen to both sides.
                    let both = sweep + 4 >= SWEEPS;
                    let near = before.iter().filter(|_| forward || both);
                    let near = near.chain(after.iter().filter(|_| !forward || both));
                    let (sum, count) =
                        near.fold((0.0, 0), |(sum, count), &other| (sum + vertices[other].y, count + 1));
                    if count == 0 { vertices[vertex].y } else { sum / f64::from(count) }
                })
                .collect();
            keep_order(vertices, row, &wanted);
        }
    }
    close_up(vertices);
}

/// Begins at zero and takes out strips in which there is nothing, such as between parts that are not connected.
fn close_up(vertices: &mut [Vertex]) {
    const STRIP: f64 = 2.0 * GAP;
    let mut order: Vec<usize> = (0..vertices.len()).collect();
    let top = |vertex: &Vertex| vertex.y - vertex.height / 2.0;
    order.sort_by(|&a, &b| top(&vertices[a]).total_cmp(&top(&vertices[b])));
    let (mut shift, mut bottom) = (order.first().map_or(0.0, |&first| top(&vertices[first])), f64::INFINITY);
    for place in order {
        let vertex = &mut vertices[place];
        shift += (top(vertex) - bottom - STRIP).max(0.0);
        let end = vertex.y + vertex.height / 2.0;
        bottom = if bottom.is_finite() { bottom.max(end) } else { end };
        vertex.y -= shift;
    }
}

/// The places nearest to the wanted ones in which boxes keep their order and gaps: with the gaps taken off, that is an
/// increasing sequence nearest to another, found by joining neighbours that are out of order.
fn keep_order(vertices: &mut [Vertex], row: &[usize], wanted: &[f64]) {
    let mut offsets = Vec::with_capacity(row.len());
    let mut total = 0.0;
    for (place, &vertex) in row.iter().enumerate() {
        if place > 0 {
            total += 0.5 * (vertices[row[place - 1]].height + vertices[vertex].height) + GAP;
        }
        offsets.push(total);
    }
    let mut pools: Vec<(f64, usize)> = Vec::new();
    for (wanted, offset) in wanted.iter().zip(&offsets) {
        let mut pool = (wanted - offset, 1);
        while let Some(&(mean, size)) = pools.last()
            && mean > pool.0
        {
            pools.pop();
            let count = size + pool.1;
            pool = ((mean * size as f64 + pool.0 * pool.1 as f64) / count as f64, count);
        }
        pools.push(pool);
    }
    let mean = pools.iter().flat_map(|&(mean, size)| std::iter::repeat_n(mean, size));
    for ((&vertex, offset), mean) in row.iter().zip(&offsets).zip(mean) {
        vertices[vertex].y = mean + offset;
    }
}

/// Left end and width of every layer; where many arrows pass there is more room between.
fn columns(sizes: &[[f64; 2]], layer: &[usize], chains: &[Vec<usize>], depth: usize) -> Vec<(f64, f64)> {
    let mut columns = Vec::with_capacity(depth);
    let mut left = 0.0;
    for at in 0..depth {
        let widths = sizes.iter().zip(layer).filter(|(_, layer)| **layer == at).map(|(size, _)| size[0]);
        let width = widths.fold(0.0, f64::max);
        columns.push((left, width));
        let leaving =
            chains.iter().filter(|chain| layer[chain[0]] <= at && at < layer[chain[chain.len() - 1]]).count();
        left += width + (36.0 + 4.0 * leaving as f64).min(84.0);
    }
    columns
}

/// The way of every arrow: from the right side of a box, straight past the layers between, to the left side of another.
/// Arrows at one side of a box are spread over it in the order of where they come from or go to.
fn ways(
    sizes: &[[f64; 2]],
    corners: &[[f64; 2]],
    vertices: &[Vertex],
    chains: &[Vec<usize>],
    columns: &[(f64, f64)],
) -> Vec<Vec<[f64; 2]>> {
    let port = |vertex: usize, chain: usize, incoming: bool| {
        let end = |chain: &[usize]| if incoming { chain[chain.len() - 1] } else { chain[0] };
        let next = |chain: &[usize]| if incoming { chain[chain.len() - 2] } else { chain[1] };
        let mut here: Vec<usize> = (0..chains.len()).filter(|&c| end(&chains[c]) == vertex).collect();
        here.sort_by(|&a, &b| {
            vertices[next(&chains[a])].y.total_cmp(&vertices[next(&chains[b])].y).then(a.cmp(&b))
        });
        let place = here.iter().position(|&c| c == chain).unwrap_or(0) as f64;
        let step = (0.7 * sizes[vertex][1] / here.len() as f64).min(11.0);
        corners[vertex][1] + 0.5 * sizes[vertex][1] + step * (place - 0.5 * (here.len() as f64 - 1.0))
    };
    let way = |(place, chain): (usize, &Vec<usize>)| {
        let (from, to) = (chain[0], chain[chain.len() - 1]);
        let mut way = vec![[corners[from][0] + sizes[from][0], port(from, place, false)]];
        for &passing in &chain[1..chain.len() - 1] {
            let (left, width) = columns[vertices[passing].layer];
            way.extend([[left, vertices[passing].y], [left + width, vertices[passing].y]]);
        }
        way.push([corners[to][0], port(to, place, true)]);
        way
    };
    chains.iter().enumerate().map(way).collect()
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn random(seed: u64) -> (Vec<[f64; 2]>, Vec<(usize, usize)>) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let count = 1 + (seed as usize * 7) % 32;
        let sizes =
            (0..count).map(|_| [40.0 + 90.0 * rng.random::<f64>(), 20.0 + 50.0 * rng.random::<f64>()]);
        let sizes = sizes.collect();
        let share = 2.0 / count as f64;
        let pairs = (0..count).flat_map(|to| (0..to).map(move |from| (from, to)));
        (sizes, pairs.filter(|_| rng.random::<f64>() < share).collect())
    }

    #[test]
    fn arrows_point_right_and_boxes_do_not_overlap() {
        for seed in 0..60 {
            let (sizes, edges) = random(seed);
            let Layout { corners, ways, size } = place(&sizes, &edges);
            for (&(from, to), way) in edges.iter().zip(&ways) {
                assert!(corners[from][0] + sizes[from][0] + 20.0 < corners[to][0], "{seed}: {from} {to}");
                assert!(way.windows(2).all(|pair| pair[0][0] <= pair[1][0]), "{seed} {way:?}");
            }
            for a in 0..sizes.len() {
                let inside =
                    |k: usize| corners[a][k] >= -1e-9 && corners[a][k] + sizes[a][k] <= size[k] + 1e-9;
                assert!(inside(0) && inside(1), "{seed}");
                for b in 0..a {
                    let apart = |k: usize| {
                        corners[a][k] + sizes[a][k] + 8.0 <= corners[b][k]
                            || corners[b][k] + sizes[b][k] + 8.0 <= corners[a][k]
                    };
                    assert!(apart(0) || apart(1), "{seed}: {a} and {b} overlap");
                }
            }
        }
    }

    #[test]
    fn arrows_pass_boxes_by() {
        for seed in 0..60 {
            let (sizes, edges) = random(seed);
            let Layout { corners, ways, .. } = place(&sizes, &edges);
            for way in &ways {
                // Straight pieces past a layer are every other one.
                for pair in way.windows(2).skip(1).step_by(2).filter(|_| way.len() > 2) {
                    for (corner, size) in corners.iter().zip(&sizes) {
                        let beside = pair[1][0] <= corner[0] || pair[0][0] >= corner[0] + size[0];
                        let past = pair[0][1] < corner[1] || pair[0][1] > corner[1] + size[1];
                        assert!(beside || past, "{seed}: {pair:?} {corner:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn sources_stand_before_what_they_point_at() {
        // 0 -> 1 -> 2, and 3 -> 2.
        assert_eq!(layers(4, &[(0, 1), (1, 2), (3, 2)]), [0, 1, 2, 1]);
        assert_eq!(layers(1, &[]), [0]);
        assert_eq!(place(&[], &[]).size, [0.0, 0.0]);
    }
}
