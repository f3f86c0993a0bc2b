import type { Session } from './session.ts';
import { SessionLayer } from './session-layer.ts';

/** The session to work on: inside a call it is the call's own draft, even if the session below it was passed. */
export function joinSession(named: Session | undefined, parents: Session | undefined): SessionLayer | undefined {
  const [own, outer] = [named, parents].map((one) => (one === undefined ? undefined : SessionLayer.of(one)));
  return own === undefined || own.shared === outer?.shared ? outer : own;
}
