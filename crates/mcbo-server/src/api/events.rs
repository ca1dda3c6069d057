//! What happens while somebody looks.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::{RawQuery, State};
use axum::response::sse::{Event, Sse};
use futures_util::{Stream, stream};
use serde_json::json;
use tokio::sync::watch;

use super::Query;
use crate::App;

/// So often something is said, if only that nothing happened: who is gone is noticed then.
const BEAT: Duration = Duration::from_secs(10);

/// Server-sent events: the number of the last event of a study, whenever it is another one.
pub async fn events(
    State(app): State<App>,
    RawQuery(query): RawQuery,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let query = Query::new(query);
    let receiver = app.live.listen(query.get("study").unwrap_or_default());
    Sse::new(stream::unfold((receiver, true), next))
}

type Listening = (watch::Receiver<Option<i64>>, bool);

async fn next((mut receiver, first): Listening) -> Option<(Result<Event, Infallible>, Listening)> {
    let event = if first {
        // The page knows then that it is connected.
        Event::default().retry(Duration::from_secs(1)).comment("here")
    } else {
        match tokio::time::timeout(BEAT, receiver.changed()).await {
            Ok(Ok(())) => {
                let state = *receiver.borrow_and_update();
                Event::default().data(json!({ "event": state }).to_string())
            }
            Ok(Err(_)) => return None,
            Err(_) => Event::default().comment("nothing new"),
        }
    };
    Some((Ok(event), (receiver, false)))
}
