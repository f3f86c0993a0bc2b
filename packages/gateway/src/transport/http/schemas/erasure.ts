import { z } from 'zod';
import type { Erasure } from '../../../domain/erasure/erasure.ts';
import { projectField } from '../fields.ts';

export const erasureSchema: z.ZodType<Erasure> = z
  .strictObject({
    id: z.string(),
    kind: z.enum(['person', 'space', 'conversation', 'agent']),
    subjectId: z.string().meta({ description: 'The id of what is erased.' }),
    project: projectField,
    status: z.enum(['running', 'done']),
    phase: z
      .enum(['collect', 'sources', 'threads', 'copies', 'files', 'done'])
      .meta({ description: 'What is done at the moment.' }),
    replaced: z.int().meta({ description: 'How many rows had texts that were replaced.' }),
    error: z.string().optional().meta({ description: 'Why the last attempt stopped. The next one continues.' }),
    createdAt: z.int(),
    doneAt: z.int().optional(),
  })
  .meta({
    id: 'Erasure',
    description: 'The erasure of what a person wrote, of a space, a conversation or an agent, and how far it is.',
  });

/** Whether deleting something also erases its texts. */
export const eraseField: z.ZodType<boolean | undefined> = z
  .enum(['true', 'false'])
  .transform((text) => text === 'true')
  .optional()
  .meta({ description: 'With `true`, its texts and their copies are erased: the response has the `erasure`.' });
