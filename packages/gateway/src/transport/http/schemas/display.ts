import { z } from 'zod';

export const displaySchema: z.ZodType = z
  .looseObject({
    customUI: z.string().optional().meta({ description: 'The name of the component that shows the call.' }),
  })
  .meta({ id: 'Display', description: 'How the tool wants its call to be shown.' });

/** Who may answer a call: one match is enough. */
export const answerersSchema: z.ZodType = z
  .strictObject({ entities: z.array(z.string()).optional(), roles: z.array(z.string()).optional() })
  .meta({ id: 'Answerers', description: 'Who may answer, by id or by role. One match is enough.' });
