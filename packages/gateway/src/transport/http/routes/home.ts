import { z } from 'zod';
import { getHome } from '../../../domain/runs/home.ts';
import { viewOf } from '../../caller.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { runSchema } from '../schemas/run.ts';

const homeDaySchema = z
  .strictObject({
    day: z.string().meta({ description: 'In UTC.' }),
    runs: z.int().meta({ description: 'The runs that began on this day.' }),
    failed: z.int(),
    medianMs: z.int().optional().meta({ description: 'How long its ended runs took. Absent if there were none.' }),
    p95Ms: z.int().optional().meta({ description: 'What 95 of 100 of them took at most.' }),
    sampled: z.literal(true).optional().meta({
      description:
        'The day had more than 1,000 runs: the numbers of runs and their times are those of its newest 1,000.',
    }),
    requests: z.int().meta({ description: 'Requests to models.' }),
    tokens: z.int().meta({ description: 'Input and output tokens together.' }),
    cost: z.number().nullable().meta({
      description: 'Null if a price is not configured, or if there are several currencies.',
    }),
    currency: z.string().optional(),
  })
  .meta({ id: 'HomeDay', description: 'The figures of one day.' });

export const homeEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/api/home',
    summary: 'Get what an operator wants to know first',
    description:
      'Who is at work, what failed in the last 24 hours and was not tried again, and the figures of today and the seven days before. What waits for people is listed by `GET /api/pending`.',
    access: 'key',
    answer: z
      .strictObject({
        atWork: z.array(runSchema).meta({ description: 'The runs under way, newest first, at most 20.' }),
        failed: z.array(runSchema).meta({ description: 'Newest first, at most 20.' }),
        days: z.array(homeDaySchema).meta({ description: 'Newest first: today is the first.' }),
      })
      .meta({ id: 'Home' }),
    handle: ({ caller }, tx) => getHome(tx.db, { view: viewOf(caller), now: tx.now() }),
  }),
];
