import { charter, node, suspend, to } from '@lastcall/machines';
import { z } from 'zod';

const draft = node({
  instructions: 'Write the order, then ask for the signature.',
  state: z.object({ lines: z.array(z.string()) }),
  initialState: { lines: [] },
  tools: (tool) => ({
    addLine: tool({
      description: 'Adds a line to the order.',
      inputSchema: z.object({ line: z.string() }),
      effects: 'session',
      execute({ line }, ctx) {
        ctx.updateState({ lines: [...ctx.state.lines, line] });
        return `${ctx.state.lines.length} lines`;
      },
    }),
  }),
  transitions: {
    sign: { description: 'Ask the manager to sign.', handler: () => suspend('The manager signs.') },
    place: {
      description: 'Place the signed order.',
      targets: ['placed'],
      handler: (_input, { state }) => to('placed', state),
    },
  },
});

const placed = node({
  instructions: 'Tell the user that the order is placed.',
  state: z.object({ lines: z.array(z.string()) }),
});

export const orders = charter({ nodes: { draft, placed } });
