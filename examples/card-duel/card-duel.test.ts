import { createSession, dispatchCall, runTurn, type Session, type Settlement } from '@lastcall/core';
import { type ScriptedModel, scriptedModel, sequentialIds } from '@lastcall/core/testing';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { deckOf, isBeast, type PlayerId } from './cards.ts';
import { type Combat, type CombatEvent, combat, lifeLeft } from './combat.ts';
import { playDuel } from './duel.ts';
import { BENCH_SIZE, type Game, type GameEvent, game } from './game.ts';
import { findModel } from './model.ts';
import { modes } from './modes.ts';
import { carefulPlayer, hastyPlayer, modelOf } from './players.ts';
import type { Mode } from './plugin-beasts.ts';

const SEED = 73;
const PLAYERS: readonly PlayerId[] = ['ada', 'bo'];

interface Played {
  readonly winner: PlayerId | null;
  readonly lines: readonly string[];
  readonly moves: readonly Settlement[];
  readonly requests: ScriptedModel['requests'];
  readonly problems: readonly string[];
}

async function play(seed: number): Promise<Played> {
  const session = createSession({ slices: [game, combat] });
  const started: GameEvent = { type: 'GameStarted', seed };
  session.dispatch(started);
  const models = { ada: modelOf(carefulPlayer(), session), bo: modelOf(hastyPlayer(), session) };
  const lines: string[] = [];
  const moves: Settlement[] = [];
  const problems: string[] = [];
  session.subscribe('ToolInvoked', (move) => {
    moves.push(move);
    problems.push(...problemsOf(session).map((problem) => `${move.callId} ${move.toolName}: ${problem}`));
  });
  const winner = await playDuel({
    session,
    models,
    newId: sequentialIds(),
    print: (line) => {
      lines.push(line);
      // Also between calls: a rewind is no call.
      problems.push(...problemsOf(session));
    },
  });
  return { winner, lines, moves, problems, requests: [...models.ada.requests, ...models.bo.requests] };
}

/** What is wrong with a table, or an empty list. */
function problemsOf(session: Session): readonly string[] {
  const { zones } = session.read(game);
  const state = session.read(combat);
  return PLAYERS.flatMap((player) => {
    const { active, bench, attached } = zones[player];
    const all = Object.values(zones[player]).flat();
    const carried = Object.keys(state.embers).filter((ember) => ember.startsWith(`${player}-`));
    const standing = [...active, ...bench];
    return [
      ...(same(all, deckOf(player)) ? [] : [`${player}'s cards are ${[...all].sort().join()}`]),
      ...(same(attached, carried) ? [] : [`${player}'s attached embers are ${attached.join()}, not ${carried.join()}`]),
      ...(carried.every((ember) => standing.includes(state.embers[ember] ?? '')) ? [] : [`${player}'s embers float`]),
      ...(active.length <= 1 && bench.length <= BENCH_SIZE ? [] : [`${player} has too many beasts in play`]),
      ...(standing.every((beast) => isBeast(beast) && lifeLeft(state, beast) > 0) ? [] : [`${player} plays a ghost`]),
    ];
  });
}

function same(one: readonly string[], other: readonly string[]): boolean {
  return [...one].sort().join() === [...other].sort().join();
}

describe('a whole game', () => {
  let played: Played;
  beforeAll(async () => {
    played = await play(SEED);
  });

  test('has a winner, and the output names the winner', () => {
    expect(played.winner).toBe('ada');
    expect(played.lines.at(-1)).toBe('\nAda wins in turn 7.');
  });

  test('has moves of every kind: rewound, blocked, cancelled, and decided by the other player', () => {
    const outcomesOf = (name: string): readonly string[] =>
      played.moves.filter(({ toolName }) => toolName === name).map(({ outcome }) => codeOf(outcome));
    expect(outcomesOf('rewind')).toEqual(['ok']);
    expect(outcomesOf('end_phase')).toContain('blocked');
    expect(new Set(outcomesOf('end_turn'))).toEqual(new Set(['ok', 'blocked', 'cancelled']));
    expect(outcomesOf('create_decision')).toEqual(['ok', 'ok']);
    expect(outcomesOf('resolve_decision')).toEqual(['ok', 'ok']);
    for (const name of ['mulligan', 'set_status', 'peek', 'declare_victory']) expect(outcomesOf(name)).toContain('ok');
  });

  test('[R38] sends only requests in which each call is followed directly by its one result', () => {
    expect(played.requests.length).toBeGreaterThan(40);
    for (const { prompt } of played.requests) expect(unanswered(prompt)).toEqual([]);
  });

  test('no move loses or duplicates a card', () => {
    expect(played.problems).toEqual([]);
  });

  test('is the same when it is played again', async () => {
    const again = await play(SEED);
    expect(again.lines).toEqual(played.lines);
    expect(again.requests.map(({ prompt }) => prompt)).toEqual(played.requests.map(({ prompt }) => prompt));
  });
});

test('with any shuffle a game ends, and no card is lost or duplicated', { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 2_147_483_646 }), async (seed) => {
      const { lines, problems, requests } = await play(seed);
      expect(problems).toEqual([]);
      expect(requests.flatMap(({ prompt }) => unanswered(prompt))).toEqual([]);
      expect(lines.at(-1)).toMatch(/^\n(Ada|Bo) wins in turn \d+\.$|^\nThere is no winner after 40 turns\.$/);
    }),
    { numRuns: 10 },
  );
});

function codeOf(outcome: Settlement['outcome']): string {
  return outcome.status === 'error' ? outcome.code : outcome.status;
}

/** The calls of a request that are not followed directly by exactly one result. */
function unanswered(prompt: ScriptedModel['requests'][number]['prompt']): readonly string[] {
  return prompt.flatMap((message, index) => {
    const next = prompt[index + 1];
    const results =
      next?.role === 'tool'
        ? next.content.flatMap((part) => (part.type === 'tool-result' ? [part.toolCallId] : []))
        : [];
    if (message.role !== 'assistant')
      return message.role === 'tool' && prompt[index - 1]?.role !== 'assistant' ? ['tool'] : [];
    const calls = message.content.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : []));
    return same(calls, results) ? [] : calls;
  });
}

/** A table in the middle of a game: it is Ada's main phase. */
function midGame(more: readonly (GameEvent | CombatEvent)[] = []): Session {
  const session = createSession({ slices: [game, combat] });
  const begin: readonly GameEvent[] = [
    { type: 'GameStarted', seed: SEED },
    { type: 'HandExchanged', player: 'ada' },
    { type: 'CardMoved', player: 'ada', card: 'ada-1', from: 'hand', to: 'active' },
    { type: 'CardMoved', player: 'ada', card: 'ada-0', from: 'hand', to: 'bench' },
    { type: 'PhaseEnded' },
    { type: 'CardMoved', player: 'bo', card: 'bo-1', from: 'hand', to: 'active' },
    { type: 'CardMoved', player: 'bo', card: 'bo-5', from: 'hand', to: 'bench' },
    { type: 'PhaseEnded' },
    { type: 'CardDrawn', player: 'ada' },
    { type: 'PhaseEnded' },
  ];
  for (const event of [...begin, ...more]) session.dispatch(event);
  return session;
}

function tableOf(session: Session): { game: Game; combat: Combat } {
  return { game: session.read(game), combat: session.read(combat) };
}

describe('a move that the rules forbid', () => {
  const lulled: readonly CombatEvent[] = [{ type: 'BeastLulled', beast: 'ada-1' }];
  const fallen: readonly GameEvent[] = [
    { type: 'CardMoved', player: 'bo', card: 'bo-1', from: 'active', to: 'discard' },
  ];
  const asked: readonly GameEvent[] = [
    { type: 'DecisionAsked', decision: { of: 'bo', question: '?', cards: ['bo-5'] } },
  ];
  const attached: readonly (GameEvent | CombatEvent)[] = [
    { type: 'CardMoved', player: 'ada', card: 'ada-9', from: 'hand', to: 'attached' },
    { type: 'EmberAttached', ember: 'ada-9', beast: 'ada-1' },
  ];
  const hit: readonly CombatEvent[] = [{ type: 'BeastHit', beast: 'bo-1', damage: 10 }];

  test.each<[string, Mode, string, object, string, string, readonly (GameEvent | CombatEvent)[]]>([
    ['before a decision', 'main', 'end_turn', {}, 'blocked', 'decision to make first', asked],
    ['out of phase', 'start_of_turn', 'draw', {}, 'blocked', 'phase "main"', []],
    [
      'of a card that is elsewhere',
      'main',
      'move_card',
      { card: 'ada-5', to: 'bench' },
      'blocked',
      'neither in your hand',
      [],
    ],
    ['of a card that is not there', 'main', 'move_card', { card: 'x', to: 'bench' }, 'blocked', 'no card "x"', []],
    ['of the other player’s card', 'main', 'move_card', { card: 'bo-5', to: 'active' }, 'blocked', 'neither', []],
    ['to a place that is taken', 'main', 'move_card', { card: 'ada-0', to: 'active' }, 'blocked', 'no room', []],
    ['of an ember to the bench', 'main', 'move_card', { card: 'ada-9', to: 'bench' }, 'blocked', 'no beast', []],
    ['of a drowsy beast', 'main', 'move_card', { card: 'ada-1', to: 'bench' }, 'denied', 'drowsy', lulled],
    ['after an attack', 'main', 'move_card', { card: 'ada-1', to: 'bench' }, 'denied', 'nothing moves', hit],
    ['with too few embers', 'main', 'declare_attack', { attack: 'Nudge' }, 'blocked', 'costs 1 embers', []],
    [
      'by a drowsy beast',
      'main',
      'declare_attack',
      { attack: 'Nudge' },
      'blocked',
      'is drowsy',
      [...attached, ...lulled],
    ],
    [
      'with another beast’s attack',
      'main',
      'declare_attack',
      { attack: 'Wildfire' },
      'blocked',
      'knows Nudge and Stampede',
      attached,
    ],
    [
      'of a second ember',
      'main',
      'attach_energy',
      { ember: 'ada-8', beast: 'ada-1' },
      'blocked',
      'have attached',
      attached,
    ],
    [
      'of an ember to nobody',
      'main',
      'attach_energy',
      { ember: 'ada-8', beast: 'bo-1' },
      'blocked',
      'no beast of yours',
      [],
    ],
    ['to look at what is secret', 'main', 'search_zone', { owner: 'theirs', zone: 'hand' }, 'blocked', 'secret', []],
    ['to end a turn while the other place is empty', 'main', 'end_turn', {}, 'blocked', 'must choose', fallen],
    ['to win too early', 'main', 'declare_victory', {}, 'blocked', '0 of 3 points', []],
    [
      'to ask when nothing is to be decided',
      'main',
      'create_decision',
      { question: '?', cards: ['bo-5'] },
      'blocked',
      'nothing to decide',
      [],
    ],
    [
      'to ask about a stranger',
      'main',
      'create_decision',
      { question: '?', cards: ['ada-0'] },
      'blocked',
      'not on the other',
      fallen,
    ],
    ['to decide unasked', 'decision', 'resolve_decision', { card: 'bo-5' }, 'blocked', 'nothing for you', []],
  ])('%s fails and changes nothing', async (_, mode, toolName, input, code, message, events) => {
    const session = midGame(events);
    const before = tableOf(session);
    const { tools, policies = [] } = modes[mode];
    const { outcome } = await dispatchCall({ tools, policies, session, call: { toolName, input } });
    expect(outcome).toMatchObject({ status: 'error', code, message: expect.stringContaining(message) });
    expect(tableOf(session)).toEqual(before);
  });
});

describe('a turn in main mode', () => {
  const attachToBench = { toolName: 'attach_energy', input: { ember: 'ada-9', beast: 'ada-0' } };

  test('[R30] is undone completely by a rewind: the table is restored, and the model reads why', async () => {
    const session = midGame();
    const before = tableOf(session);
    const seen: unknown[] = [];
    const model = scriptedModel([
      attachToBench,
      { toolName: 'rewind', input: { reason: 'Wrong beast.', guidance: 'The active one.' } },
      () => {
        seen.push(tableOf(session));
        return { toolName: 'concede' };
      },
    ]);
    await runTurn({ ...modes.main, model, session, prompt: 'Go.' });
    expect(seen).toEqual([before]);
    const said = JSON.stringify(model.requests[2]?.prompt);
    expect(said).toContain('The active one.');
    expect(said).not.toContain('attach_energy {');
    expect(model.requests[2]?.prompt.map(({ role }) => role)).toEqual(['system', 'user', 'user']);
  });

  test('[R36] shows only the newest search result and the newest peek result, each in its own slot', async () => {
    const search = (zone: string) => ({ toolName: 'search_zone', input: { owner: 'mine', zone } });
    const model = scriptedModel([
      [{ toolName: 'peek', input: { count: 2 } }, search('hand')],
      [search('bench'), search('active')],
      { toolName: 'concede' },
    ]);
    await runTurn({ ...modes.main, model, session: midGame(), prompt: 'Go.' });
    const texts = model.requests[2]?.prompt.flatMap((message) =>
      message.role === 'tool'
        ? message.content.map((part) => ('output' in part && 'value' in part.output ? part.output.value : ''))
        : [],
    );
    const condensed = expect.stringMatching(/^\[/);
    expect(texts).toEqual([
      expect.stringContaining('Next in your deck'),
      condensed,
      condensed,
      'Your active: Mosshorn (ada-1).',
    ]);
  });
});

test('a model plays if the environment has a key for it; without a key, no model is requested', async () => {
  expect(await findModel({})).toBeUndefined();
  expect(await findModel({ ANTHROPIC_API_KEY: '', OPENAI_API_KEY: '' })).toBeUndefined();
  const anthropic = await findModel({ ANTHROPIC_API_KEY: 'none', CARD_DUEL_MODEL: 'some-model' });
  expect(anthropic).toMatchObject({ provider: 'anthropic.messages', modelId: 'some-model' });
  const openai = await findModel({ OPENAI_API_KEY: 'none', CARD_DUEL_MODEL: 'some-model' });
  expect(openai).toMatchObject({ provider: 'openai.chat', modelId: 'some-model' });
});
