import { createSession } from './create-session.ts';
import type { Session } from './session.ts';
import { SessionLayer } from './session-layer.ts';

/**
 * A session that starts with the same state and goes on by itself. State is one immutable root, so it costs the same at any size.
 * Resources, files and subscribers are not taken over.
 */
export function forkSession(session: Session): Session {
  const forked = SessionLayer.of(createSession());
  forked.state.root = SessionLayer.of(session).state.root;
  return forked;
}
