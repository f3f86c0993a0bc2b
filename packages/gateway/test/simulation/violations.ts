import { CHECKS, type Checked, type CheckName, check } from './checks.ts';
import { type GuestName, guestOf } from './guests.ts';
import type { Ledger } from './ledger.ts';
import type { MemoryDatabase } from './memory-database.ts';
import { type EndedWorld, runWorld } from './world.ts';

/** How each invariant is broken in a world that kept it: by a statement, or in the external view. */
const VIOLATIONS: Readonly<Record<CheckName, string | ((world: Checked) => void)>> = {
  'every call settles once': "update calls set status = 'started' where tool_name = 'charge'",
  'effects happen as often as their calls say': ({ ledger }) => {
    const [first] = ledger.effects.filter(({ toolName }) => toolName === 'charge');
    if (first !== undefined) ledger.effects.push(first);
  },
  'a call that is said not to have run did nothing': `update calls set outcome = '{"status":"cancelled"}' where tool_name = 'charge'`,
  'a sub-agent acts for a call of its agent, once': ({ ledger }) => {
    ledger.effects.push({ toolName: 'charge', idempotencyKey: `${'0'.repeat(32)}-1`, ref: 'e1' });
  },
  'every visible call that was started has a card': "delete from messages where kind = 'tool'",
  'every event is handled once': "update inbox_events set status = 'pending' where type = 'space_message'",
  'every request of a person is stored once': 'update messages set client_message_id = null',
  'everything that was asked for is answered once': ({ ledger }) => {
    ledger.asked.push({ ref: 'n99', what: 'answer', agentId: '', by: 'plan', told: [], isAnswered: true });
  },
  'every prompt is valid: each call is followed by its result': ({ ledger }) => {
    ledger.invalidPrompts.push('messages[3] is the result of no call before it.');
  },
  'transcripts have no gaps': 'delete from transcript_entries where seq = 2',
  'no request is refused': ({ ledger }) => void ledger.refused.push('A request was refused.'),
  'streams have no gaps, and what begins ends once': 'delete from stream_events where seq = 2',
  'followers read every event once': ({ ledger }) => void ledger.followed[0]?.seqs.push(1),
  'only what is stored is told': ({ ledger }) => {
    ledger.published.push({ stream: 'space:x', seq: 1, type: 'message.complete', json: '{}' });
  },
  'messages are numbered, and no card stays open': "update messages set status = 'running' where kind = 'tool'",
  'one answer to a waiting call counts': ({ ledger }) => {
    for (const one of [...ledger.answered])
      ledger.answered.push({ ...one, answer: '{"deny":"No."}', told: 'resolved' });
  },
  'a plan fires once': "delete from inbox_events where type = 'plan'",
  'a conversation gets one answer to each request': ({ ledger }) => {
    for (const { runs } of ledger.turns) runs.push('another run');
  },
  'sessions hold what successful calls wrote': 'update calls set input = \'{"ref":"x"}\' where tool_name = \'charge\'',
  'files hold what successful calls wrote': `update files set content = '"e99"'`,
  'a deleted agent says nothing more': ({ ledger }) => {
    for (const one of [...ledger.deleted]) ledger.deleted.push({ ...one, lastSeq: 0 });
  },
  'what a project spends stays within its limit': 'update usage_requests set input_tokens = 10000',
  'a call runs without being asked for only if a grant covers it':
    'update grants set conditions = \'[{"field":"/ref","oneOf":["x"]}]\'',
  'a grant that was revoked is not used': ({ ledger }) => {
    for (const one of ledger.revoked.splice(0)) ledger.revoked.push({ ...one, uses: one.uses + 1 });
  },
  'nothing is left leased or running': "update threads set lease_owner = 'g1'",
};

/** Promises that only worlds with a guest can break. */
const GUEST_OF: Readonly<Partial<Record<CheckName, GuestName>>> = {
  'files hold what successful calls wrote': 'files',
  'a deleted agent says nothing more': 'deletion',
  'what a project spends stays within its limit': 'spend limit',
  'a call runs without being asked for only if a grant covers it': 'grants',
  'a grant that was revoked is not used': 'grants',
};

/** For each check, in a world that passed all of them: which ones notice that its promise is broken. */
export async function proveChecks(memory: MemoryDatabase): Promise<Readonly<Record<string, readonly string[]>>> {
  const noticed: Record<string, readonly string[]> = {};
  const names = Object.keys(CHECKS) as CheckName[];
  for (const guest of new Set(names.map((name) => GUEST_OF[name]))) {
    const world = await richWorld(memory, guest);
    for (const name of names.filter((one) => GUEST_OF[one] === guest)) noticed[name] = await noticedIn(world, name);
  }
  return noticed;
}

/** Breaks the promise, checks, and leaves the world as it was. */
async function noticedIn({ database, ledger: kept }: EndedWorld, name: CheckName): Promise<readonly string[]> {
  const { db, raw } = database;
  const ledger = structuredClone(kept);
  const violate = VIOLATIONS[name];
  raw.exec('pragma foreign_keys = off; begin');
  try {
    if (typeof violate === 'string') raw.exec(violate);
    else violate({ db, ledger });
    return [...new Set((await check({ db, ledger })).map((problem) => problem.check))];
  } finally {
    raw.exec('rollback; pragma foreign_keys = on');
  }
}

/** Without faults, so that everything succeeds. */
function calmWorld(memory: MemoryDatabase, seed: number): Promise<EndedWorld> {
  return runWorld(memory, { seed, onlyFaults: new Set() });
}

/** Few worlds have everything that their agents can do without a guest. None before this seed had it when this was written. */
const FIRST_RICH_SEED = 85;

/** A world in which the promises can be broken: those of its guest, or all others. */
async function richWorld(memory: MemoryDatabase, guest: GuestName | undefined): Promise<EndedWorld> {
  for (let seed = guest === undefined ? FIRST_RICH_SEED : 1; ; seed++) {
    if (guest !== undefined && guestOf(seed) !== guest) continue;
    const world = await calmWorld(memory, seed);
    const { ledger, database } = world;
    if ((await check({ db: database.db, ledger })).length > 0) throw new Error(`Seed ${seed} fails without any fault.`);
    if (isRich(ledger, guest)) return world;
  }
}

function isRich({ asked, effects, answered, turns, revoked }: Ledger, guest: GuestName | undefined): boolean {
  switch (guest) {
    case undefined: {
      const isCharged = effects.some(({ toolName }) => toolName === 'charge');
      const isPlanned = asked.some(({ by }) => by === 'plan');
      const isShown = asked.some(({ what }) => what === 'charge');
      return isCharged && isPlanned && isShown && answered.length > 0 && turns.length > 0;
    }
    case 'files':
      return asked.some(({ what }) => what === 'file');
    case 'grants':
      return revoked.some(({ uses }) => uses > 0);
    default:
      return true;
  }
}
