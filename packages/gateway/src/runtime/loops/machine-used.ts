import type { Entry, Journal, Settlement, Usage } from '@lastcall/core';
import { addUsage, noUsage } from '@lastcall/core/internal';
import { jsonLength, toTokens } from '../../domain/transcript/estimate-tokens.ts';
import { toRecord } from '../../domain/transcript/load-transcript.ts';
import { INPUT, originOf, ROOT } from '../../domain/transcript/machine-rows.ts';
import type { ActiveRun } from '../run/active-run.ts';
import type { OpenedRun } from './open-run.ts';

/** What a run has used, and the entries of the conversation with the user. */
export class MachineUsed {
  readonly spoken: Entry[] = [];
  #total: Usage = noUsage;
  /** The entries of each conversation since its last request. */
  readonly #unsent = new Map<string, Entry[]>();

  /** A worker that takes the run over counts what was used before. */
  constructor({ rows, isTakenOver }: ActiveRun) {
    const start = rows.findLastIndex(({ kind }) => kind === INPUT);
    if (isTakenOver) for (const row of rows.slice(start + 1)) this.#add(toRecord(row).entry);
  }

  get total(): Usage {
    return this.#total;
  }

  /** The tokens that the next request of the conversation has more than its last one. */
  unsentTokens(thread: string): number {
    const unsent = this.#unsent.get(thread) ?? [];
    return toTokens(unsent.reduce((sum, entry) => sum + charactersIn(entry), 0));
  }

  /** The journal, with a note of everything that it is given. `ended` gets the ends of calls. */
  noting(journal: OpenedRun['journal'], ended: Settlement[]): Journal {
    return {
      append: (entries) => {
        for (const entry of entries) this.#add(entry);
        return journal.append(entries);
      },
      start: (entry, call) => journal.start(entry, call),
      settle: (entry, staged) => {
        this.#add(entry);
        if (entry.kind === 'settled') ended.push(entry.settlement);
        return journal.settle(entry, staged);
      },
    };
  }

  #add(entry: Entry): void {
    const { thread, begins } = originOf(entry);
    const unsent = thread === undefined || entry.kind === 'reply' ? undefined : this.#unsent.get(thread);
    if (unsent !== undefined) unsent.push(entry);
    else if (thread !== undefined) this.#unsent.set(thread, [entry]);
    if (thread === ROOT) this.spoken.push(...(begins === true ? [TURN, entry] : [entry]));
    if (entry.kind !== 'reply') return;
    this.#total = addUsage(this.#total, entry.usage);
  }
}

const TURN: Entry = { kind: 'turn' };

/** About what a model reads of an entry. */
function charactersIn(entry: Entry): number {
  if (entry.kind === 'reply') return jsonLength(entry.content);
  if (entry.kind === 'message') return jsonLength(entry.message);
  return entry.kind === 'settled' || entry.kind === 'pending' ? entry.settlement.outcome.text.length : 0;
}
