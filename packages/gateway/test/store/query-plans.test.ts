import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { scriptedModel } from '@lastcall/core/testing';
import { afterAll, expect, test } from 'vitest';
import { listWaiting } from '../../src/domain/calls/list-waiting.ts';
import { lastTasks } from '../../src/domain/evaluations/task.ts';
import { EVERYTHING } from '../../src/domain/projects/view.ts';
import { getHome } from '../../src/domain/runs/home.ts';
import { listRuns } from '../../src/domain/runs/run.ts';
import { getStory } from '../../src/domain/runs/story.ts';
import { addAssertFound } from '../../src/ports/store/require-row.ts';
import { openSqliteStore } from '../../src/ports/store/sqlite/sqlite-store.ts';
import { chatWith } from '../support/conversations.ts';
import { lobby } from '../support/lobby.ts';
import { openWorld } from '../support/world.ts';

const home = mkdtempSync(join(tmpdir(), 'lastcall-plans-'));
afterAll(() => rmSync(home, { recursive: true }));

test('[G44] the frequent queries of a gateway on the embedded store use an index', async () => {
  const asked = new Set<string>();
  const world = await openWorld({
    database: {
      kind: 'sqlite',
      location: home,
      open: (parts) => openSqliteStore({ home, synchronous: 'NORMAL' }, parts),
      remove: async () => {},
    },
    models: { default: scriptedModel(() => 'Done.') },
  });
  const prepare = DatabaseSync.prototype.prepare;
  DatabaseSync.prototype.prepare = function (text) {
    // Except the queries of the test itself, which wait until there is nothing more to do.
    if (/^select/.test(text) && !text.includes('"inbox_events"."status" in')) asked.add(text);
    return prepare.call(this, text);
  };
  try {
    await world.start();
    const { ada, space } = await lobby(world, {}, { isIn: true });
    await world.say(space, ada, 'Hi');
    await world.idle();
    const chat = await chatWith(world);
    await chat.say('Hi', { terminating: { toolIds: ['complete_task'], consecutiveNudges: 0 } });
    await chat.start({ message: 'Again' }, { identity: { key: 'k', bodyHash: 'b' } });
    await world.idle();
    await listWaiting(world.services.store.db, { agentId: 'a', status: 'resolved' });
    await listWaiting(world.services.store.db, { spaceId: space, status: 'resolved' });
    // The queries that the studio sends every few seconds while a page is open.
    const { db } = world.services.store;
    const [{ id: runId = '', agentId = '' } = {}] = (await listRuns(db, { status: 'completed' })).items;
    await listRuns(db, { status: 'waiting' });
    await listRuns(db, { toolName: 'send_message' });
    await getStory(db, runId);
    expect((await lastTasks(db, agentId, {})).items).not.toEqual([]);
    await getHome(db, { view: EVERYTHING, now: Date.now() });
    await expect.poll(() => [...asked].some((text) => text.includes('having'))).toBe(true);
  } finally {
    DatabaseSync.prototype.prepare = prepare;
  }
  await world.stop();
  const database = new DatabaseSync(join(home, 'lastcall.db'));
  addAssertFound(database);
  const plansOf = (text: string): string[] =>
    database
      .prepare(`explain query plan ${text}`)
      .all()
      .map(({ detail }) => String(detail));
  const scansOf = (text: string): string[] => plansOf(text).filter((plan) => /^SCAN (?!CONSTANT)/.test(plan));
  // The sweep reads all waiting events. They have a separate index, which it reads completely.
  const sweep = [...asked].find((text) => text.includes('having'));
  expect(scansOf(sweep ?? '')).toEqual(['SCAN inbox_events USING INDEX inbox_waiting']);
  // Most runs are completed: the newest are read in the order of their ids until the page is full, and nothing is sorted.
  const completed = [...asked].find((text) => text.includes("'completed' and not"));
  expect(scansOf(completed ?? '')).toEqual([expect.stringMatching(/^SCAN runs USING INDEX sqlite_autoindex_runs/)]);
  const among = [...asked].filter((text) => /^select "runs"\.\*, '(waiting|completed)'/.test(text));
  expect(among).toHaveLength(2);
  // Otherwise the calls of each run would be read, with their inputs and outcomes.
  const byTool = [...asked].find((text) => text.includes('"calls"."tool_name" = ?'));
  expect(plansOf(byTool ?? '')).toContainEqual(
    expect.stringMatching(/calls (EXISTS )?USING INDEX calls_by_tool \(tool_name=\? AND run_id=\?\)/),
  );
  // Otherwise each run would look for the calls that wait: with 100,000 runs, that took minutes.
  expect(among.flatMap(plansOf).filter((plan) => plan.startsWith('CORRELATED'))).toEqual([]);
  expect(
    [...asked].filter((text) => text !== sweep && text !== completed && text !== byTool && scansOf(text).length > 0),
  ).toEqual([]);
  const inbox = [...asked].filter(
    (text) => text.includes('from "inbox_events"') && text.includes('order by "priority"'),
  );
  expect(inbox.flatMap(plansOf)).toEqual([expect.stringContaining('inbox_waiting (thread_id=?)')]);
  const listsBy = (column: string): string[] =>
    [...asked].filter((text) => text.includes(`and "calls"."${column}" = ?`)).flatMap(plansOf);
  expect(listsBy('agent_id')).toContainEqual(expect.stringContaining('calls_waited_by_agent (agent_id=? AND'));
  expect(listsBy('space_id')).toContainEqual(expect.stringContaining('calls_waited_by_space (space_id=? AND'));
  database.close();
});
