import type { Answer } from '@lastcall/core';
import { deleteAgent } from '../../src/domain/agents/delete-agent.ts';
import { answer } from '../../src/domain/calls/answer-call.ts';
import type { Grant, GrantRequest } from '../../src/domain/grants/grant.ts';
import { listGrants, revokeGrant } from '../../src/domain/grants/list-grants.ts';
import { setPlans } from '../../src/domain/plans/plans.ts';
import { postMessage } from '../../src/domain/spaces/post-message.ts';
import { getSpace } from '../../src/domain/spaces/space.ts';
import { awaitRun } from '../../src/runtime/chat/await-run.ts';
import { startTurn } from '../../src/runtime/chat/start-turn.ts';
import { toText } from '../processes/answering.ts';
import type { Action } from './action.ts';
import { ask, insist, outside } from './clients.ts';
import { GRANTED_REFS, GUEST } from './guests.ts';
import type { Asked, Turn } from './ledger.ts';
import { PERSON_IN, placeOf } from './place.ts';
import type { Town, WaitingRow } from './town.ts';

/** Performs the action, and repeats it until it was confirmed. */
export function perform(town: Town, action: Action): void {
  outside(async () => {
    town.log(
      `client: ${action.kind} ${action.agent} ${'what' in action ? action.what : action.kind === 'plan' ? 'answer' : ''} ${action.ref}`,
    );
    town.begin();
    switch (action.kind) {
      case 'post':
        await post(town, action);
        break;
      case 'plan':
        await plan(town, action);
        break;
      case 'chat':
        await chat(town, action);
        break;
      case 'delete':
        await deleteOne(town, action);
        break;
      case 'revoke':
        await revoke(town, action);
        break;
    }
    town.end();
  });
}

async function post(town: Town, { ref, agent, what }: Extract<Action, { kind: 'post' }>): Promise<void> {
  const isAnswered = placeOf(ref) !== 'East' || town.isGuestAnswered;
  const asked: Asked = { ref, what, agentId: town.agents[agent] ?? '', by: 'message', told: [], isAnswered };
  const place = placeOf(ref);
  const message = {
    spaceId: town.spaces[place],
    entityId: town.people[PERSON_IN[place]],
    text: toText(agent, { what, ref }),
    clientMessageId: ref,
  };
  const send = () =>
    insist(town, 'post', async ({ services }) => {
      const posted = services.store.transaction((tx) => postMessage(services, tx, message), {
        isUrgent: true,
        group: { kind: 'post', keys: [message.spaceId], turn: message.spaceId },
      });
      return (await posted).message.id;
    });
  town.ledger.asked.push(asked);
  note(town, asked.told, await send());
  if (town.faults.at('after post', { repeat: 0.1 }) !== undefined) note(town, asked.told, await send());
}

async function plan(town: Town, { ref, agent, afterMs }: Extract<Action, { kind: 'plan' }>): Promise<void> {
  const agentId = town.agents[agent] ?? '';
  const dueAt = Math.floor(town.time.now) + afterMs;
  const input = { key: ref, name: ref, instruction: `answer ${ref}`, at: dueAt };
  const asked: Asked = { ref, what: 'answer', agentId, by: 'plan', told: [], isAnswered: true };
  const set = await insist(town, 'plan', ({ services }) =>
    services.store.transaction((tx) => setPlans(tx, agentId, [input], { setter: 'operator' })),
  );
  // A plan that is set a moment too late is refused as being in the past.
  if (set instanceof Error) return;
  town.ledger.asked.push(asked);
  asked.told.push(set.join());
}

/** Records the number of messages, so that a later one of the agent is noticed. */
async function deleteOne(town: Town, { agent }: Pick<Action, 'agent'>): Promise<void> {
  const agentId = town.agents[agent] ?? '';
  const lastSeq = await insist(town, 'delete', ({ services }) =>
    services.store.transaction(async (tx) => {
      await deleteAgent(tx, agentId);
      return (await getSpace(tx.db, town.spaces.East)).lastSeq;
    }),
  );
  if (typeof lastSeq === 'number') town.ledger.deleted.push({ agentId, spaceId: town.spaces.East, lastSeq });
  // The first attempt may have been made, and its answer lost.
  else if ((lastSeq as { code?: string }).code !== 'not_found') refuse(town, lastSeq);
}

/** Revokes all grants of the agent, and records how often each was used until then. A grant that is given later stays. */
async function revoke(town: Town, { agent }: Pick<Action, 'agent'>): Promise<void> {
  const agentId = town.agents[agent] ?? '';
  const revoked = await insist(town, 'revoke', ({ services }) =>
    services.store.transaction(async (tx) => {
      const { items } = await listGrants(tx, { agentId });
      const ended: Grant[] = [];
      for (const { id } of items) ended.push(await revokeGrant(tx, id, { by: town.people.Eve }));
      return ended;
    }),
  );
  if (revoked instanceof Error) refuse(town, revoked);
  else town.ledger.revoked.push(...revoked.map(({ id, uses }) => ({ grantId: id, uses })));
}

async function chat(town: Town, { ref, agent, what }: Extract<Action, { kind: 'chat' }>): Promise<void> {
  const turn: Turn = { ref, runs: [], responses: [] };
  const caller = { kind: 'key', keyId: 'k' } as const;
  const request = {
    caller,
    conversation: { agent: town.agents[agent] ?? '' },
    input: { message: `${what} ${ref}` },
    identity: { key: ref, bodyHash: ref },
  };
  const start = () =>
    insist(town, 'chat', async ({ services, registry }) => {
      const started = await services.store.transaction((tx) => startTurn(tx, registry, request));
      return started.runId;
    });
  town.ledger.turns.push(turn);
  note(town, turn.runs, await start());
  if (town.faults.at('after chat', { repeat: 0.1 }) !== undefined) note(town, turn.runs, await start());
  const [runId = ''] = turn.runs;
  while (turn.responses.length === 0 && !town.isOver()) {
    const heard = await ask(town, 'await', ({ services }) => awaitRun(services, runId), { patienceMs: 30_000 });
    if (heard.kind === 'answer') turn.responses.push(heard.value.response);
    else if (heard.kind === 'error' && heard.error.code !== 'store_unavailable') return refuse(town, heard.error);
    await town.time.sleep(500);
  }
}

function note(town: Town, told: string[], heard: string | Error): void {
  if (heard instanceof Error) refuse(town, heard);
  else told.push(heard);
}

function refuse(town: Town, error: Error): void {
  town.ledger.refused.push(`A client was refused: ${error.message}`);
}

/** People look for calls that wait, and answer them. Sometimes two answer the same one. */
export function answerCalls(town: Town): void {
  const taken = new Set<string>();
  const look = (): void => {
    for (const call of town.waitingCalls()) {
      const round = `${call.id} ${call.kind}`;
      if (taken.has(round)) continue;
      taken.add(round);
      outside(() => answerOne(town, call, 'first'));
      if (town.faults.number('second answer') < 0.3) outside(() => answerOne(town, call, 'second'));
    }
    if (!town.isOver()) town.time.afterIn(undefined, 1_000, look);
  };
  outside(async () => look());
}

async function answerOne(town: Town, call: WaitingRow, which: string): Promise<void> {
  const { id, runId, kind } = call;
  town.begin();
  await town.time.sleep(3_000 * town.faults.number(`${which} answer takes`));
  const isYes = town.faults.number(`${which} answer`) < 0.7;
  const given: Answer =
    kind === 'approval' ? (isYes ? { approve: true } : { deny: 'Not now.' }) : { result: { confirmed: isYes } };
  const by = { key: true, keyId: 'k', entityId: town.people.Ada } as const;
  const grant = 'approve' in given ? grantWith(town, call, which) : undefined;
  const told = await insist(town, 'answer', async ({ services }) => {
    const { duplicate } = await answer(services, { runId, callId: id, answer: given, by, grant });
    return duplicate ? 'duplicate' : 'resolved';
  });
  town.log(`client: ${which} answer ${JSON.stringify(given)}: ${told instanceof Error ? told.message : told}`);
  const outcome = told instanceof Error ? String((told as { code?: string }).code) : told;
  town.ledger.answered.push({ callId: id, answer: JSON.stringify(given), told: outcome });
  town.end();
}

/** A grant has to cover the call that it is given with. */
function grantWith(town: Town, { agentId, input }: WaitingRow, which: string): GrantRequest | undefined {
  const { ref } = JSON.parse(input) as { ref: string };
  if (!town.isGuestGranted || agentId !== town.agents[GUEST] || !GRANTED_REFS.includes(ref)) return undefined;
  const isForRun = town.faults.number(`${which} grant`) < 0.3;
  return { for: isForRun ? 'run' : 'hour', conditions: [{ field: '/ref', oneOf: GRANTED_REFS }] };
}
