import { z } from 'zod';
import { DEFAULT_CURRENCY } from '../../../config/prices.ts';
import { type DaySpendLimits, dayLimitsSchema } from '../../../config/spend-limits.ts';
import { invalid } from '../../../domain/entities/invalid.ts';
import {
  createProject,
  deleteProject,
  getProject,
  listProjects,
  updateProject,
} from '../../../domain/projects/project.ts';
import { viewOf } from '../../caller.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { ownIdField, pageFields, pageOf } from '../fields.ts';

const spend = dayLimitsSchema.meta({ description: 'What all its agents together may spend on a day, in UTC.' });

const projectSchema = z
  .strictObject({ id: z.string(), name: z.string(), spend: spend.optional(), createdAt: z.int() })
  .meta({ id: 'Project', description: 'A customer of the gateway, with everything that belongs to it.' });

/** Callers that see one project read that one. Only callers that see all of them create and change projects. */
export const projectEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/api/projects',
    summary: 'List projects',
    description: 'With a key of a project: only that one.',
    access: 'key',
    query: z.strictObject({ ...pageFields }),
    answer: pageOf(projectSchema),
    handle: ({ caller, query }, tx) => listProjects(tx.db, viewOf(caller), query),
  }),
  endpoint({
    method: 'post',
    path: '/api/projects',
    summary: 'Create a project',
    access: 'admin',
    body: z.strictObject({ id: ownIdField, name: z.string().optional(), spend: spend.optional() }),
    status: 201,
    answer: projectSchema,
    refusals: [409],
    handle({ body }, tx, { currency }) {
      assertCurrency(body.spend, currency);
      return createProject(tx, body);
    },
  }),
  endpoint({
    method: 'get',
    path: '/api/projects/{id}',
    summary: 'Get a project',
    access: 'key',
    answer: projectSchema,
    handle: ({ caller, params }, tx) => getProject(tx.db, params.id, viewOf(caller)),
  }),
  endpoint({
    method: 'patch',
    path: '/api/projects/{id}',
    summary: 'Update a project',
    description: '`spend: null` removes its spend limits.',
    access: 'admin',
    body: z.strictObject({ name: z.string().optional(), spend: spend.nullable().optional() }),
    answer: projectSchema,
    handle({ params, body }, tx, { currency }) {
      assertCurrency(body.spend, currency);
      return updateProject(tx, params.id, body);
    },
  }),
  endpoint({
    method: 'delete',
    path: '/api/projects/{id}',
    summary: 'Delete a project',
    description: 'Refused with 409 while it has agents, spaces, people, tools or keys. `default` cannot be deleted.',
    access: 'admin',
    answer: z.strictObject({ id: z.string() }),
    refusals: [409],
    handle: ({ params }, tx) => deleteProject(tx, params.id),
  }),
];

/** With a limit in another currency, no agent of the project could run. */
function assertCurrency(spend: DaySpendLimits | null | undefined, currency: string = DEFAULT_CURRENCY): void {
  if (spend?.currency === undefined || spend.currency === currency) return;
  throw invalid('spend.currency', `must be ${currency}, the currency of the configuration, not ${spend.currency}.`);
}
