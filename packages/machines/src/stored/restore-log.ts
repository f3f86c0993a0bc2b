import { StoredMachineError } from '../errors.ts';
import { Log, type LogItem } from '../tree/log.ts';
import type { RestoredThread } from './restore-threads.ts';
import { count, type Fields, list, plain, record, text } from './stored-fields.ts';

/** Restores the log. The pieces of each thread must follow one another, up to where the thread is logged. */
export function restoreLog({ log, told }: Fields, threads: ReadonlyMap<string, RestoredThread>): Log {
  const reached = new Map<string, number>();
  const items = list(log, 'log').map((item, index): LogItem => {
    const path = `log[${index}]`;
    const { said, happened } = record(item, path);
    if (said === undefined) return { happened: restoreHappened(happened, `${path}.happened`) };
    return { said: restoreSaid(record(said, `${path}.said`), `${path}.said`, { reached, threads }) };
  });
  for (const [id, { thread, path }] of threads)
    if (thread.logged !== (reached.get(id) ?? 0))
      throw new StoredMachineError(`${path}.logged`, `must be ${reached.get(id) ?? 0}, as the log has it.`);
  return new Log(items, count(told, items.length, 'told'));
}

type Said = Extract<LogItem, { said: unknown }>['said'];
type Happened = Extract<LogItem, { happened: unknown }>['happened'];

interface Reading {
  /** How much of each thread the log has covered so far. */
  readonly reached: Map<string, number>;
  readonly threads: ReadonlyMap<string, RestoredThread>;
}

function restoreSaid(stored: Fields, path: string, { reached, threads }: Reading): Said {
  const thread = text(stored.thread, `${path}.thread`);
  const logged = threads.get(thread)?.thread.logged;
  if (logged === undefined) throw new StoredMachineError(`${path}.thread`, `there is no thread "${thread}".`);
  const before = reached.get(thread) ?? 0;
  const [from, to] = [count(stored.from, logged, `${path}.from`), count(stored.to, logged, `${path}.to`)];
  if (from !== before) throw new StoredMachineError(`${path}.from`, `must be ${before}: the piece before ends there.`);
  if (to < from) throw new StoredMachineError(`${path}.to`, 'ends before it begins.');
  reached.set(thread, to);
  return { thread, from, to, ...origin(stored, path) };
}

function origin(stored: Fields, path: string): { instanceId: string; node: string } {
  return { instanceId: text(stored.instanceId, `${path}.instanceId`), node: text(stored.node, `${path}.node`) };
}

function restoreHappened(given: unknown, path: string): Happened {
  const stored = record(plain(given, path), path);
  origin(stored, path);
  switch (stored.kind) {
    case 'patched':
      restoreTarget(record(stored.target, `${path}.target`), `${path}.target`);
      record(stored.set, `${path}.set`);
      for (const [index, name] of list(stored.unset, `${path}.unset`).entries()) text(name, `${path}.unset[${index}]`);
      break;
    case 'moved':
      text(stored.to, `${path}.to`);
      break;
    case 'spawned':
      for (const [index, child] of list(stored.children, `${path}.children`).entries())
        origin(record(child, `${path}.children[${index}]`), `${path}.children[${index}]`);
      break;
    case 'ceded':
      plain(stored.content, `${path}.content`);
      break;
    case 'command':
      text(stored.name, `${path}.name`);
      plain(stored.input, `${path}.input`);
      break;
    case 'resumed':
      text(stored.callId, `${path}.callId`);
      break;
    default:
      throw new StoredMachineError(`${path}.kind`, 'must be patched, moved, spawned, ceded, command or resumed.');
  }
  return stored as unknown as Happened;
}

function restoreTarget({ kind, id, name }: Fields, path: string): void {
  if (kind === 'instance') text(id, `${path}.id`);
  else if (kind === 'pack') text(name, `${path}.name`);
  else throw new StoredMachineError(`${path}.kind`, 'must be instance or pack.');
}
