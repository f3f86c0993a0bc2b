import type { Filesystem } from '../files/filesystem.ts';
import { openSession, type SessionOptions } from './create-session.ts';
import type { Session } from './session.ts';
import { restoreRoot, type SessionJson } from './session-json.ts';
import { SessionLayer } from './session-layer.ts';

/** What a session has besides its state. */
export interface SessionHost extends Pick<SessionOptions, 'logger' | 'resources' | 'shared' | 'filesystem'> {
  /** The file system, unless a tool has a resource with the key "filesystem". Default: an empty one in memory. */
  readonly otherwiseFilesystem?: Filesystem | undefined;
}

/** A new session, or one that is restored from JSON, for a host with such a file system. */
export function hostedSession(
  json: SessionJson | null | undefined,
  { otherwiseFilesystem, ...options }: SessionHost & Pick<SessionOptions, 'keepOpenedSections'>,
): Session {
  const session = openSession(options, otherwiseFilesystem);
  if (json !== undefined && json !== null) session.state.root = restoreRoot(json, session.state.root, 'keep');
  return session;
}

/**
 * A session that starts with the same state and is independent afterwards. State is one immutable root, so this costs
 * the same at any size. Resources, files and subscribers are not copied.
 */
export function forkSession(session: Session, { otherwiseFilesystem, ...host }: SessionHost = {}): Session {
  const { state, shared } = SessionLayer.of(session);
  const forked = openSession({ keepOpenedSections: shared.keepsOpened, ...host }, otherwiseFilesystem);
  forked.state.root = state.root;
  return forked;
}
