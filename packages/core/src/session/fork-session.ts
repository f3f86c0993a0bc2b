import type { Filesystem } from '../files/filesystem.ts';
import { openSession, type SessionOptions } from './create-session.ts';
import type { Session } from './session.ts';
import { SessionLayer } from './session-layer.ts';

interface ForkOptions {
  readonly logger?: SessionOptions['logger'] | undefined;
  /** The file system, unless a tool has a resource with the key "filesystem". Default: an empty one in memory. */
  readonly otherwiseFilesystem?: Filesystem | undefined;
}

/**
 * A session that starts with the same state and is independent afterwards. State is one immutable root, so this costs
 * the same at any size. Resources, files and subscribers are not copied.
 */
export function forkSession(session: Session, { logger, otherwiseFilesystem }: ForkOptions = {}): Session {
  const { state, shared } = SessionLayer.of(session);
  const options = { keepOpenedSections: shared.keepsOpened, ...(logger === undefined ? {} : { logger }) };
  const forked = openSession(options, otherwiseFilesystem);
  forked.state.root = state.root;
  return forked;
}
