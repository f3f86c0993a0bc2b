import { type ConfigInput, defineConfig } from '@lastcall/gateway';
// Ends the gateway with its test.
import './tools-config.ts';

/** What the lastcall.config.mjs of the tests about spend limits exports: each reply costs 1, and is expected to. */
export const spendConfig: ConfigInput = defineConfig({
  prices: { loopback: { input: 0, output: 200_000 } },
  agents: [
    {
      name: 'Anna',
      instructions: 'You are Anna.',
      settings: { maxOutputTokens: 5 },
      limits: { spend: { perDay: 8 } },
    },
  ],
});
