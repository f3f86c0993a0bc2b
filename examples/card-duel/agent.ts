// The same duel as an agent of a gateway. A conversation is a game, and its session is the table. The agent plays both sides: the session
// says whose move it is, and in which mode. While a player waits for a decision of the other, the gateway stops, and another one goes on.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Entry, Settlement } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { defineAgent } from '@lastcall/gateway';
import { startTestGateway, type TestGateway, waitFor } from '@lastcall/gateway/testing';
import { NAMES } from './cards.ts';
import { combat } from './combat.ts';
import { duel } from './definition.ts';
import { type Game, game, toMove } from './game.ts';
import { carefulPlayer, hastyPlayer, type View } from './players.ts';

const players = { ada: carefulPlayer(), bo: hastyPlayer() };
let view: View = { game: game.initial, combat: combat.initial };
// A model reads the table as the last message of each request. The scripted players look at it at the same moment.
const watched = defineAgent({
  ...duel,
  observe(session) {
    view = { game: session.read(game), combat: session.read(combat) };
    return duel.observe(session);
  },
});

const home = await mkdtemp(join(tmpdir(), 'card-duel-'));
let gateway = await start();
const [{ id: agentId }] = (await gateway.api('/api/agents')).items;
const { id: contextId } = await gateway.api('/contexts', { agent: agentId });

let state = game.initial;
let response: string | undefined;
let restarts = 0;
for (let number = 1; state.winner === null; number += 1) {
  if (state.decision !== null && restarts === 0) await restart();
  await wake(state);
  const run = await endOfRun(number);
  console.log(`Turn ${state.turn} · ${NAMES[toMove(state)]} · ${run.mode}: ${await movesOf(run.id)}`);
  ({ response } = run);
  state = await readTable();
}
console.log(`${NAMES[state.winner]} wins in turn ${state.turn}.`);
await gateway.stop();
await rm(home, { recursive: true });

function start(): Promise<TestGateway> {
  return startTestGateway({
    home,
    model: scriptedModel(() => players[toMove(view.game)](view)),
    definitions: { duel: watched },
    agents: [{ name: 'Duel', definition: 'duel', batch: { onError: 'cancel-rest' } }],
  });
}

async function restart(): Promise<void> {
  await gateway.stop();
  console.log('\nThe gateway has stopped. Another one goes on.\n');
  gateway = await start();
  restarts += 1;
}

/** Starts the next run: the next phase, the other player's decision, or the rest of a phase that waited for a decision. */
async function wake({ decision }: Game): Promise<void> {
  const [asked] = (await gateway.api('/api/pending')).items;
  if (asked !== undefined && decision === null)
    await gateway.api(`/api/runs/${asked.runId}/tool-results`, { callId: asked.callId, result: response });
  else await gateway.api('/chat', { context_id: contextId, message: 'Go on.' });
}

async function endOfRun(number: number): Promise<{ id: string; mode: string; response?: string }> {
  const { id } = await waitFor(async () => {
    const [newest] = (await gateway.api('/api/runs')).items;
    return newest.number === number && newest.endedAt !== undefined && newest;
  });
  const run = await gateway.api(`/api/runs/${id}`);
  if (run.status === 'failed') throw new Error(`Run ${number} failed.`, { cause: run });
  return run;
}

async function movesOf(runId: string): Promise<string> {
  const { items } = await gateway.api(`/api/runs/${runId}/transcript`);
  return items
    .flatMap(({ entry }: { entry: Entry }) => (entry.kind === 'settled' ? [moveOf(entry.settlement)] : []))
    .join(', ');
}

function moveOf({ toolName, outcome: { status } }: Settlement): string {
  return status === 'ok' ? toolName : `${toolName} (${status})`;
}

async function readTable(): Promise<Game> {
  const { slices } = await gateway.api(`/api/agents/${agentId}/session?contextId=${contextId}`);
  return slices.game.state;
}
