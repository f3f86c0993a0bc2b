import { join } from 'node:path';
import { type Journal, replay, runTurn, Transcript } from '@lastcall/core';
import { sqliteJournal } from '@lastcall/core/sqlite-journal';
import { notes, orderDesk } from './order-desk.ts';

export interface OrderEnd {
  readonly response: string;
  readonly notes: readonly string[];
  readonly outcomes: readonly string[];
  readonly effects: readonly string[];
}

/** Runs the order desk to its end on the journal in the folder, from what is stored there. */
export async function runOrder(folder: string, around: (journal: Journal) => Journal = (it) => it): Promise<OrderEnd> {
  const store = sqliteJournal({ path: join(folder, 'journal.db') });
  const thread = store.thread('order');
  const desk = orderDesk(join(folder, 'world.txt'));
  const session = desk.session();
  const records = thread.records();
  replay(session, records);
  const transcript = Transcript.fromJSON({ version: 1, entries: records.map(({ entry }) => entry) });

  const { prompt = '', ...turn } = desk.turn();
  const replies = records.filter(({ entry }) => entry.kind === 'reply').length;
  const options = { ...turn, model: desk.model(replies), session, transcript, journal: around(thread.journal) };
  const isNew = records.length === 0;
  let result = await runTurn({ ...options, ...(isNew ? { prompt } : {}) });
  while (result.pending.length > 0) {
    const answers = Object.fromEntries(result.pending.map(({ callId }) => [callId, { approve: true as const }]));
    result = await runTurn({ ...options, answers });
  }
  const outcomes = thread
    .records()
    .flatMap(({ entry }) => (entry.kind === 'settled' ? [entry.settlement.outcome] : []))
    .map((outcome) => (outcome.status === 'error' ? outcome.code : outcome.status));
  store.close();
  return { response: result.response, notes: session.read(notes), outcomes, effects: desk.effects() };
}
