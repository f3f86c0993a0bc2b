// A duel of two agents at cards: modes and plugins, terminal tools, blocked moves, rewind, and decisions of the other
// player that suspend a turn. With ANTHROPIC_API_KEY or OPENAI_API_KEY set, Ada is played by a model.
import { createSession } from '@lastcall/core';
import { sequentialIds } from '@lastcall/core/testing';
import { combat } from './combat.ts';
import { playDuel } from './duel.ts';
import { game } from './game.ts';
import { findModel } from './model.ts';
import { carefulPlayer, hastyPlayer } from './players.ts';

const session = createSession({ slices: [game, combat] });
const model = await findModel(process.env);

await playDuel({
  session,
  models: { ada: model ?? carefulPlayer(session, 'ada'), bo: hastyPlayer(session, 'bo') },
  seed: 73,
  newId: sequentialIds(),
  print: (line) => console.log(line),
});
