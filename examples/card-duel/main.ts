// A duel of two agents at cards: modes and plugins, terminal tools, blocked moves, rewind, and decisions of the other
// player that suspend a turn. With ANTHROPIC_API_KEY or OPENAI_API_KEY set, Ada is played by a model.
import { createSession } from '@lastcall/core';
import { sequentialIds } from '@lastcall/core/testing';
import { duel } from './definition.ts';
import { playDuel } from './duel.ts';
import { findModel } from './model.ts';
import { carefulPlayer, hastyPlayer, modelOf } from './players.ts';

const session = createSession({ slices: duel.slices });
const model = await findModel(process.env);

await playDuel({
  session,
  models: { ada: model ?? modelOf(carefulPlayer(), session), bo: modelOf(hastyPlayer(), session) },
  newId: sequentialIds(),
  print: (line) => console.log(line),
});
