import { z } from 'zod';

const changeSchema = z
  .strictObject({
    kind: z.string().meta({
      description: '`event`, `file`, `resource`, `message`, `space`, `goal`, `memory` or `plan`; more may follow.',
    }),
    name: z.string().meta({
      description:
        'Which: the type of the event, the path, the key, the id of the space. Empty: all that are not listed.',
    }),
    count: z.int(),
    sample: z.unknown().optional().meta({ description: 'One of them, or the beginning and the end of its JSON.' }),
  })
  .meta({ id: 'Change', description: 'Something that a call changed.' });

export const changesSchema: z.ZodType = z
  .strictObject({ committed: z.array(changeSchema), discarded: z.array(changeSchema) })
  .meta({
    id: 'Changes',
    description:
      'What of a call remains, and what was rolled back: all that a failed call did, and what earlier attempts did.',
  });
