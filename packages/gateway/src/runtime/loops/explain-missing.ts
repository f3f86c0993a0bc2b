import type { Middleware } from '@lastcall/core';
import type { RunTools } from '../run/run-tool.ts';

/** The error code for a call of a tool whose MCP server is not available. */
const SERVER_UNAVAILABLE = 'server_unavailable';

/** Tells the model that a server is down, instead of that there is no such tool. */
export function explainMissing({ whyMissing }: RunTools): readonly Middleware[] {
  if (whyMissing === undefined) return [];
  return [
    {
      name: 'explain-missing',
      outcome(outcome, { toolName }) {
        if (outcome.status !== 'error' || outcome.code !== 'unknown_tool') return outcome;
        const message = whyMissing(toolName);
        return message === undefined ? outcome : { ...outcome, code: SERVER_UNAVAILABLE, message, text: message };
      },
    },
  ];
}
