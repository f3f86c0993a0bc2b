import { createSession, type JsonSchemaObject, tool } from '@lastcall/core';
import { advertise } from '@lastcall/core/internal';
import { chainOf } from '../tree/tree.ts';
import { LiveMachine } from './live-machine.ts';
import type { Machine } from './machine.ts';

/** A command that a machine takes now. */
export interface MachineCommand {
  readonly name: string;
  readonly description?: string;
  /** The schema of its input. */
  readonly inputSchema: JsonSchemaObject;
  /** The instance that it acts on. */
  readonly instanceId: string;
  readonly node: string;
}

/** The commands that `machine.command(name)` finds now: those of the primary, and those of its ancestors with other names. */
export async function listCommands(machine: Machine): Promise<readonly MachineCommand[]> {
  const { tree, charter } = LiveMachine.of(machine);
  const found = new Map<string, MachineCommand>();
  for (const { id: instanceId, node } of chainOf(tree, tree.speaker)) {
    for (const [name, { description, inputSchema }] of charter.node(node).commands) {
      if (found.has(name)) continue;
      const described = description === undefined ? {} : { description };
      found.set(name, { name, ...described, inputSchema: await schemaOf(inputSchema), instanceId, node });
    }
  }
  return [...found.values()];
}

async function schemaOf(inputSchema: unknown): Promise<JsonSchemaObject> {
  const command = tool({ description: 'A command.', inputSchema: inputSchema as never, execute: () => undefined });
  const [advertised] = await advertise({ command }, { session: createSession(), pendingAnswered: true });
  return (advertised?.type === 'function' ? advertised.inputSchema : { type: 'object' }) as JsonSchemaObject;
}
