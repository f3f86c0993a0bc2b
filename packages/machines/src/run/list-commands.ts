import type { PlainObject } from '../charter/plain.ts';
import { stateDocument } from '../charter/state-schema.ts';
import type { Origin } from '../tree/log.ts';
import { chainOf } from '../tree/tree.ts';
import { LiveMachine } from './live-machine.ts';
import type { Machine } from './machine.ts';

/** A command that can be given now, and the instance that would run it. */
export interface AvailableCommand extends Origin {
  readonly name: string;
  readonly description?: string;
  /** The JSON Schema of its input, if its library can produce one. */
  readonly inputSchema?: PlainObject;
}

/**
 * The commands that `machine.command(name)` finds now: those of the instance that talks with the user and of its
 * ancestors. If several have the same name, the nearest counts.
 */
export function listCommands(machine: Machine): readonly AvailableCommand[] {
  const { tree, charter } = LiveMachine.of(machine);
  const found = new Map<string, AvailableCommand>();
  for (const { id: instanceId, node } of chainOf(tree, tree.speaker)) {
    for (const [name, { description, inputSchema }] of charter.node(node).commands) {
      if (found.has(name)) continue;
      const document = stateDocument(inputSchema);
      found.set(name, {
        name,
        instanceId,
        node,
        ...(description === undefined ? {} : { description }),
        ...(document === undefined ? {} : { inputSchema: document }),
      });
    }
  }
  return [...found.values()];
}
