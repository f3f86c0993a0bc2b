import type { TranscriptJson } from '@lastcall/core';
import { MachineError } from '../errors.ts';
import type { LogItem } from '../tree/log.ts';
import type { MachineJson } from '../tree/machine-json.ts';
import { MAIN } from '../tree/thread.ts';
import { type Instance, walk } from '../tree/tree.ts';

/**
 * A stored machine with shorter conversations: those in `transcripts` replace the ones with the same name (`root`, or
 * the id of a worker), the conversations of removed workers are dropped, and the history begins anew. A conversation
 * that was stored in the middle of a step cannot be replaced.
 */
export function compactMachine(
  json: MachineJson,
  transcripts: { readonly [thread: string]: TranscriptJson } = {},
): MachineJson {
  const owners = ownersOf(json.tree.root);
  for (const name of Object.keys(transcripts)) assertReplaceable(json, name, owners);
  const log: LogItem[] = [];
  const threads: [string, MachineJson['threads'][string]][] = [];
  for (const [name, thread] of Object.entries(json.threads)) {
    const owner = owners.get(name);
    if (owner === undefined) continue;
    const given = Object.hasOwn(transcripts, name) ? transcripts[name] : undefined;
    const to = given === undefined ? thread.logged : given.entries.length;
    if (to > 0) log.push({ said: { thread: name, instanceId: owner.id, node: owner.node, from: 0, to } });
    threads.push([name, { ...thread, transcript: given ?? thread.transcript, logged: to }]);
  }
  return { ...json, threads: Object.fromEntries(threads), log, told: log.length };
}

/** The instance that acts on each conversation. */
function ownersOf(root: Instance): ReadonlyMap<string, Instance> {
  const owners = new Map<string, Instance>([[MAIN, root]]);
  for (const instance of walk(root)) {
    if (instance.worker) owners.set(instance.id, instance);
    else if (instance.id.length > (owners.get(MAIN) as Instance).id.length) owners.set(MAIN, instance);
  }
  return owners;
}

function assertReplaceable({ threads }: MachineJson, name: string, owners: ReadonlyMap<string, Instance>): void {
  const thread = Object.hasOwn(threads, name) ? threads[name] : undefined;
  if (thread === undefined || !owners.has(name))
    throw new MachineError('machine', `There is no conversation "${name}" to replace.`);
  if (thread.logged < thread.transcript.entries.length)
    throw new MachineError('machine', `The conversation "${name}" is in the middle of a step, and cannot be replaced.`);
}
