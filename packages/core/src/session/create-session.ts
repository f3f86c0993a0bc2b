import type { Clock } from '../clock.ts';
import { consoleLogger, systemClock } from '../defaults.ts';
import { OptionsError } from '../errors.ts';
import type { Filesystem } from '../files/filesystem.ts';
import { memoryFilesystem } from '../files/memory-filesystem.ts';
import type { Logger } from '../logger.ts';
import { assertKnownOptions, type KnownNames, knownNames } from '../unknown-option.ts';
import type { AnyResource } from './resource.ts';
import type { ResourceScope } from './resource-scope.ts';
import type { Session as OpenedSession } from './session.ts';
import { restoreRoot, type SessionJson, type UnknownSlices } from './session-json.ts';
import { SessionLayer } from './session-layer.ts';
import { type SharedResources, SharedScope } from './shared-resources.ts';
import type { AnySlice } from './slice.ts';

export interface SessionOptions {
  slices?: ListOf<AnySlice>;
  resources?: ListOf<AnyResource>;
  /** Where its resources with scope 'shared' live. Default: they live as long as this session. */
  shared?: SharedResources;
  /**
   * The file system that tools see as `ctx.filesystem`. Default: the resource with the key "filesystem", or else an
   * empty one in memory.
   */
  filesystem?: Filesystem;
  /** Whether sections that the model opened stay open in later turns on this session. Default false. */
  keepOpenedSections?: boolean;
  /** Receives reports of failures that no caller awaits. Default: warnings and errors to the console. */
  logger?: Logger;
  clock?: Clock;
}

/** Slices and resources carry their names, so a list and an object of them are equivalent. */
type ListOf<T> = readonly T[] | Readonly<Record<string, T>>;

export function createSession(options: SessionOptions = {}): Session {
  return openSession(options);
}

export type Session = OpenedSession;

/** `Session.fromJSON` reads the result of `session.toJSON`. */
export const Session: {
  /**
   * Upgrades state of an older version with its slice's `migrate`. Refuses an unknown slice, or another version without
   * `migrate`, and names it.
   */
  fromJSON(json: SessionJson | string, options?: RestoreOptions): Session;
} = {
  fromJSON(json, { unknownSlices = 'refuse', ...options } = {}) {
    if (unknownSlices !== 'refuse' && unknownSlices !== 'keep')
      throw new OptionsError('unknownSlices', `must be 'refuse' or 'keep', not ${JSON.stringify(unknownSlices)}.`);
    const session = openSession(options);
    session.state.root = restoreRoot(json, session.state.root, unknownSlices);
    return session;
  },
};

interface RestoreOptions extends SessionOptions {
  /**
   * A stored slice that is not among `slices` is an error ('refuse', the default), or stays in the session as it was
   * stored until a tool or the host uses it ('keep').
   */
  unknownSlices?: UnknownSlices;
}

const OPTIONS: KnownNames = knownNames<SessionOptions>(
  {
    slices: true,
    resources: true,
    shared: true,
    filesystem: true,
    keepOpenedSections: true,
    logger: true,
    clock: true,
  },
  { files: 'filesystem', fs: 'filesystem', state: 'slices' },
);

/** `otherwise` is the file system if none is given as an option or as a resource. */
export function openSession(options: SessionOptions, otherwise?: Filesystem): SessionLayer {
  assertKnownOptions(options, OPTIONS);
  const { logger = consoleLogger, clock = systemClock } = options;
  const filesystem = (resources: ResourceScope): Filesystem =>
    options.filesystem ?? filesystemResource(resources) ?? otherwise ?? memoryFilesystem({ clock });
  const shared = options.shared === undefined ? undefined : SharedScope.of(options.shared);
  const keepsOpened = options.keepOpenedSections === true;
  const session = SessionLayer.bottom({ logger, clock, filesystem, keepsOpened, shared });
  session.register(...toList('slices', 'on', options.slices));
  for (const one of toList('resources', 'create', options.resources)) session.addResource(one);
  return session;
}

function filesystemResource(resources: ResourceScope): Filesystem | undefined {
  return resources.has('filesystem') ? (resources.get('filesystem') as Filesystem) : undefined;
}

function toList<T extends AnySlice | AnyResource>(
  field: string,
  mark: string,
  given: ListOf<T> | undefined,
): readonly T[] {
  if (given === undefined) return [];
  if (typeof given !== 'object' || given === null)
    throw new OptionsError(field, `must be an array, not ${typeof given}.`);
  const list = Array.isArray(given) ? (given as readonly T[]) : Object.values(given);
  list.forEach((one: unknown, index) => {
    const made = typeof one === 'object' && one !== null && mark in one;
    if (!made)
      throw new OptionsError(`${field}[${index}]`, `must come from ${field === 'slices' ? 'slice()' : 'resource()'}.`);
  });
  return list;
}
