import { builtInSlice, type Slice } from './slice.ts';
import type { ToolInvoked } from './tool-invoked.ts';

/**
 * The names of the tools that succeeded in this session. Every session has it, because a policy may ask about a tool
 * that was called before the policy was registered. It is state like any other: a rewind removes what it undid.
 */
export const succeededTools: Slice<Readonly<Record<string, true>>> = builtInSlice<Readonly<Record<string, true>>>(
  'lastcall.succeeded',
  {
    initial: {},
    on: {
      ToolInvoked: (names, event: ToolInvoked) =>
        event.outcome.status !== 'ok' || Object.hasOwn(names, event.toolName)
          ? names
          : { ...names, [event.toolName]: true },
    },
  },
);
