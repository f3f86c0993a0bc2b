import type { Entry, JournalRecord } from '@lastcall/core';
import { describe, expect, test } from 'vitest';
import { loadTranscript, type TranscriptRow } from '../../src/domain/transcript/load-transcript.ts';
import {
  COMPACTION,
  type Compaction,
  toCompactionPayload,
  toEntryPayload,
} from '../../src/domain/transcript/transcript-row.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { databases } from '../support/stores.ts';

describe.each(databases)('loading transcript on $kind', ({ create }) => {
  const database = forAllTests(create);
  const store = forAllTests(() => database.open());

  const writeRow = (threadId: string, row: TranscriptRow) =>
    store.transaction((tx) =>
      tx.db
        .insertInto('transcript_entries')
        .values({ thread_id: threadId, run_id: 'run', created_at: 0, ...row })
        .execute(),
    );
  const writeEntry = (threadId: string, seq: number, record: JournalRecord) =>
    writeRow(threadId, { seq, kind: record.entry.kind, payload: toEntryPayload(record) });
  const compactTo = (threadId: string, seq: number, compaction: Compaction) =>
    writeRow(threadId, { seq, kind: COMPACTION, payload: toCompactionPayload(compaction) });
  const said = (text: string): Entry => ({
    kind: 'message',
    message: { role: 'user', content: [{ type: 'text', text }] },
  });

  test('a thread without rows has an empty transcript, and its first row is number 1', async () => {
    expect(await loadTranscript(store.db, 'nobody')).toEqual({ entries: [], records: [], nextSeq: 1 });
  });

  test('[G13] entries are read back in order, with the changes of calls', async () => {
    const staged = { events: [{ type: 'counted', by: 2 }] };
    // Written out of order: the order is that of the numbers.
    await writeEntry('plain', 2, { entry: said('two'), staged });
    await writeEntry('plain', 1, { entry: { kind: 'turn' } });
    await writeEntry('plain', 10, { entry: said('ten') });
    await writeEntry('other', 3, { entry: said('not mine') });
    expect(await loadTranscript(store.db, 'plain')).toEqual({
      entries: [{ kind: 'turn' }, said('two'), said('ten')],
      records: [
        { seq: 1, entry: { kind: 'turn' } },
        { seq: 2, entry: said('two'), staged },
        { seq: 10, entry: said('ten') },
      ],
      nextSeq: 11,
    });
  });

  test('[G14] it starts from the entries that the last compaction carried over', async () => {
    await writeEntry('compacted', 1, { entry: said('forgotten') });
    await compactTo('compacted', 2, { summary: 'old', carried: [said('old')] });
    await writeEntry('compacted', 3, { entry: said('between') });
    const carried: Entry[] = [{ kind: 'turn' }, said('carried')];
    await compactTo('compacted', 4, { summary: 'new', carried });
    expect(await loadTranscript(store.db, 'compacted')).toEqual({ entries: carried, records: [], nextSeq: 5 });
    await writeEntry('compacted', 5, { entry: said('since') });
    expect(await loadTranscript(store.db, 'compacted')).toEqual({
      entries: [...carried, said('since')],
      records: [{ seq: 5, entry: said('since') }],
      nextSeq: 6,
    });
  });

  test('URLs, and tool results that JSON cannot hold, survive the store', async () => {
    const image: Entry = {
      kind: 'message',
      message: {
        role: 'user',
        content: [
          { type: 'file', mediaType: 'image/png', data: { type: 'url', url: new URL('https://example.com/a.png') } },
        ],
      },
    };
    // A late answer is carried over without its call.
    const settled: Entry = {
      kind: 'settled',
      late: true,
      settlement: {
        callId: 'c1',
        toolName: 'count',
        input: {},
        outcome: { status: 'ok', value: 10n, text: '10 \u0000 \ud800' },
        startedAt: 1,
        endedAt: 2,
      },
    };
    await writeEntry('odd', 1, { entry: image });
    await writeEntry('odd', 2, { entry: settled });
    await compactTo('odd', 3, { summary: '', carried: [image, settled] });
    await writeEntry('odd', 4, { entry: image });
    const { entries } = await loadTranscript(store.db, 'odd');
    const read = {
      ...settled,
      settlement: { ...settled.settlement, outcome: { status: 'ok', value: '10', text: '10 \u0000 \ud800' } },
    };
    expect(entries).toEqual([image, read, image]);
  });
});
