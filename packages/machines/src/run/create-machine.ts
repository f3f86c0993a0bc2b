import { assertKnownOptions, type KnownNames, knownNames } from '@lastcall/core/internal';
import { type Charter, CompiledCharter } from '../charter/charter.ts';
import type { NodeRef } from '../charter/node-types.ts';
import type { KnownRoot, RootState } from '../charter/target-types.ts';
import { CharterError } from '../errors.ts';
import type { SessionOptions } from '../tree/thread.ts';
import { type Instance, ROOT, type Tree } from '../tree/tree.ts';
import { LiveMachine } from './live-machine.ts';
import type { Machine } from './machine.ts';
import { stateFor } from './transition-tool.ts';

/** `N` are the charter's nodes, `R` the root. If they are known, so is the type of the state. */
export interface MachineOptions<N = unknown, R extends NodeRef = NodeRef> {
  /** The node of the root, or its name. */
  root: KnownRoot<N, R>;
  /** The root's state. Default: the node's initial state. */
  state?: RootState<N, R>;
  /**
   * Options of core's sessions, for tools that use slices, resources and files. Called for each conversation with its
   * instance's id.
   */
  session?: (instanceId: string) => SessionOptions;
}

/** A new machine: the root, waiting for a message. */
export function createMachine<N = unknown, const R extends NodeRef = NodeRef>(
  charter: Charter<N>,
  options: MachineOptions<N, R>,
): Machine {
  const compiled = CompiledCharter.of(charter);
  assertKnownOptions(options, OPTIONS);
  if (options?.root === undefined) throw new CharterError('root', 'must be a node of the charter.');
  if (options.session !== undefined && typeof options.session !== 'function')
    throw new CharterError('session', 'must be a function of an instance id that gives the options of its session.');
  const node = compiled.resolve(options.root, 'root');
  if (node.worker) throw new CharterError('root', `"${node.name}" is a worker, and the root talks with the user.`);
  const root: Instance = Object.freeze({
    id: ROOT,
    node: node.name,
    state: stateFor(node, options.state),
    worker: false,
    phase: Object.freeze({ kind: 'idle' }),
    waits: [],
    born: 0,
    children: [],
  });
  const tree: Tree = { root, packs: compiled.packStates, queue: [], speaker: ROOT };
  return new LiveMachine({ charter: compiled, tree, sessionOptions: options.session ?? (() => ({})) });
}

const OPTIONS: KnownNames = knownNames<MachineOptions>(
  { root: true, state: true, session: true },
  { node: 'root', initial: 'root', initialState: 'state', slices: 'session' },
);
