// The smallest useful program: a model, a tool, a terminal tool, and everything that happens on the way.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { runTurn, type TurnEvent, type TurnOptions, tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { z } from 'zod';

const prices = new Map([
  ['lamp', 40],
  ['desk', 250],
]);

const priceOf = tool({
  description: 'The price of an article, in euros.',
  inputSchema: z.object({ article: z.string() }),
  effects: 'none',
  execute({ article }) {
    const price = prices.get(article);
    if (price === undefined) throw new Error(`We do not sell "${article}". We sell: ${[...prices.keys()].join(', ')}`);
    return price;
  },
});

const makeOffer = tool({
  description: 'Makes the customer an offer.',
  inputSchema: z.object({ articles: z.array(z.string()).min(1), euros: z.number() }),
  terminal: true,
  execute: ({ articles, euros }) => `We offer you ${articles.join(' and ')} for ${euros} €.`,
});

const { response, stop, usage } = await runTurn({
  model: chooseModel(),
  instructions: 'You sell furniture. Look up every price; make one offer.',
  prompt: 'A lamp, a desk and a chair, please. If you lack one, I take the others.',
  tools: { price_of: priceOf, make_offer: makeOffer },
  onEvent: show,
});
console.log(`\n${response}\n(${JSON.stringify(stop)}, ${usage.totalTokens} tokens)`);

/** Any model of an AI SDK provider works; here the environment chooses it. */
function chooseModel(): TurnOptions['model'] {
  const { ANTHROPIC_API_KEY, OPENAI_API_KEY, OPENAI_BASE_URL, LASTCALL_MODEL } = process.env;
  if (ANTHROPIC_API_KEY) {
    const name = LASTCALL_MODEL?.replace(/^anthropic\//, '') ?? 'claude-sonnet-4-5';
    console.log(`The model is ${name}, of Anthropic.\n`);
    return createAnthropic({ apiKey: ANTHROPIC_API_KEY })(name);
  }
  if (OPENAI_API_KEY) {
    const name = LASTCALL_MODEL?.replace(/^openai(-compatible)?\//, '') ?? 'gpt-5-mini';
    const baseURL = OPENAI_BASE_URL || 'https://api.openai.com/v1';
    console.log(`The model is ${name}, at ${baseURL}.\n`);
    return createOpenAICompatible({ name: 'openai', baseURL, apiKey: OPENAI_API_KEY, includeUsage: true })(name);
  }
  console.log('No model is asked: what it says below is a script. The tools and the turn are real.');
  console.log('Set ANTHROPIC_API_KEY or OPENAI_API_KEY to ask one.\n');
  return scriptedModel([
    {
      text: 'Let me look.',
      calls: ['lamp', 'desk', 'chair'].map((article) => ({ toolName: 'price_of', input: { article } })),
    },
    { toolName: 'make_offer', input: { articles: ['lamp', 'desk'], euros: 290 } },
  ]);
}

function show({ type, ...event }: TurnEvent): void {
  // Ids are different in every run.
  const details = Object.entries(event).filter(([key]) => !/^(callId|startedAt|endedAt)$/.test(key));
  console.log(type, ...details.map(([key, value]) => `${key}=${JSON.stringify(value)}`));
}
