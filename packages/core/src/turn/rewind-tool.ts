import { runOf } from '../dispatch/call-context.ts';
import { fail, ok } from '../results/result.ts';
import { type Tool, tool } from '../tools/tool.ts';

// A type alias: the compiler writes its fields into a declaration file, and need not name it.
type RewindInput = { readonly reason: string; readonly guidance: string };

// Enumerable, so that a spread copy of the tool still rewinds.
const REWIND: unique symbol = Symbol.for('lastcall.rewind') as never;

/** Goes back to the checkpoint of the turn. Put it into a tool set, under any name. */
export const rewindTool: Tool<RewindInput, RewindInput> = Object.freeze({
  ...tool<RewindInput, RewindInput>({
    description:
      'Goes back to the start of this turn: undoes what was done since, and starts again with your guidance.',
    inputSchema: {
      type: 'object',
      properties: {
        reason: { type: 'string', minLength: 1, description: 'What went wrong' },
        guidance: { type: 'string', minLength: 1, description: 'What to do differently this time' },
      },
      required: ['reason', 'guidance'],
    } as never,
    effects: 'session',
    // The turn itself goes back, once the call has settled. Outside a turn there is no checkpoint.
    execute: (input, ctx) =>
      runOf(ctx)?.rewinds === true
        ? ok(input, 'Rewinding.')
        : fail('There is no point to go back to here. Nothing has changed.'),
  }),
  [REWIND]: true,
});

export function isRewindTool(definition: object): boolean {
  return (definition as { [REWIND]?: unknown })[REWIND] === true;
}
