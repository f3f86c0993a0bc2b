import { type ConfigInput, defineConfig } from '@lastcall/gateway';
import { processConfig } from './tools-config.ts';

/** How many agents send messages at the same time, each in a separate space, so that none wakes another. */
export const VOICES: readonly string[] = Array.from({ length: 10 }, (_, index) => `Voice${index}`);

/** What the lastcall.config.mjs of a test with many speakers exports. */
export const chorusConfig: ConfigInput = defineConfig({
  agents: VOICES.map((name) => ({ name, instructions: `You are ${name}.`, replies: 'tools' as const })),
  spaces: VOICES.map((name) => ({ name, agents: [name], people: [{ name: 'Ada', externalId: 'ada' }] })),
  ...(processConfig.limits === undefined ? {} : { limits: processConfig.limits }),
});
