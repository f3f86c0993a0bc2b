import { z } from 'zod';

const changeSchema = z
  .strictObject({
    kind: z.string().meta({
      description: '`event`, `file`, `resource`, `message`, `space`, `goal`, `memory` or `plan`; more may follow.',
    }),
    name: z.string().meta({
      description:
        'The changed item: the type of the event, the path, the key, or the id of the space. Empty: all items that are not listed.',
    }),
    count: z.int(),
    diff: z.string().optional().meta({
      description: 'For a text file: the lines that changed, as `diff -u` shows them. At most 2,000 characters.',
    }),
    sample: z.unknown().optional().meta({ description: 'One of them, or the beginning and the end of its JSON.' }),
  })
  .meta({ id: 'Change', description: 'Something that a call changed.' });

export const changesSchema: z.ZodType = z
  .strictObject({ committed: z.array(changeSchema), discarded: z.array(changeSchema) })
  .meta({
    id: 'Changes',
    description:
      'What a call changed, and what was rolled back: everything that a failed call or an earlier attempt did.',
  });
