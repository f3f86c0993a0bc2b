import type { PlainObject } from '../charter/plain.ts';
import { mergeFields, parseState } from '../charter/state-schema.ts';
import { StateError } from '../errors.ts';
import { chainOf, findInstance, type Instance } from '../tree/tree.ts';
import type { Target, TreeEvent } from '../tree/tree-event.ts';
import type { View } from '../tree/view.ts';
import type { MachineState } from './machine-state.ts';

/** The view with which a leaf or a command of the instance starts. */
export function viewFor({ tree, charter }: MachineState, { id, node, state, worker }: Instance): View {
  const [, ...ancestors] = chainOf(tree, id);
  const names = worker ? [] : charter.node(node).packs.map(({ name }) => name);
  return {
    actor: Object.freeze({ instanceId: id, node }),
    state,
    packs: Object.fromEntries(names.map((name) => [name, tree.packs[name] ?? {}])),
    ancestors: ancestors.map((ancestor) => ancestor.state),
    events: [],
  };
}

/** Why the writes of a call conflict with writes committed since it began reading; undefined if they do not. */
export function claimFor(
  machine: MachineState,
  by: string,
  began: number,
  events: readonly TreeEvent[],
): string | undefined {
  const taken = machine.ledger.claim(by, began, events);
  if (taken !== undefined)
    return `"${taken.field}" was changed by another call or command in the meantime. Nothing was written.`;
  const problem = problemOf(machine, events);
  if (problem === undefined) return undefined;
  machine.ledger.release(by);
  return `Another call or command changed the state in the meantime, and the two changes do not fit together: ${problem} Nothing was written.`;
}

/** Fields that are valid one by one may be invalid together, so the schema checks the resulting state. */
function problemOf(machine: MachineState, events: readonly TreeEvent[]): string | undefined {
  const states = new Map<string, { target: Target; state: PlainObject }>();
  for (const event of events) {
    if (event.kind !== 'patched') continue;
    const key = JSON.stringify(event.target);
    const state = states.get(key)?.state ?? stateOf(machine, event.target);
    if (state !== undefined) states.set(key, { target: event.target, state: mergeFields(state, event) });
  }
  try {
    for (const { target, state } of states.values()) parseState(schemaOf(machine, target), state, 'state');
    return undefined;
  } catch (error) {
    if (error instanceof StateError) return error.message;
    throw error;
  }
}

function stateOf({ tree }: MachineState, target: Target): PlainObject | undefined {
  return target.kind === 'pack' ? tree.packs[target.name] : findInstance(tree, target.id)?.state;
}

function schemaOf({ charter, tree }: MachineState, target: Target): unknown {
  if (target.kind === 'pack') return charter.packs.get(target.name)?.state;
  const instance = findInstance(tree, target.id);
  return instance === undefined ? undefined : charter.node(instance.node).definition.state;
}
