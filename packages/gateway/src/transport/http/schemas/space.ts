import { z } from 'zod';
import { metadataField, projectField } from '../fields.ts';

export const spaceSchema: z.ZodType = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    project: projectField,
    description: z.string(),
    metadata: metadataField,
    createdAt: z.int(),
    archivedAt: z.int().optional().meta({ description: 'Since when it is archived. Absent if it is not.' }),
    lastSeq: z.int().meta({ description: 'The `seq` of its newest message. 0: there is none.' }),
    unread: z.int().optional().meta({
      description: 'For a member: messages of others since it last saw the space. At most 100 are counted.',
    }),
    waiting: z.int().optional().meta({
      description: 'Calls in it that wait for the member. With a secret key: all waiting calls.',
    }),
  })
  .meta({ id: 'Space' });
