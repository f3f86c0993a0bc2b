import { z } from 'zod';
import { getAgent } from '../../../domain/agents/agent.ts';
import { addCase, deleteCase, listCases, type NewCase } from '../../../domain/evaluations/cases.ts';
import {
  deleteEvaluation,
  getEvaluation,
  listEvaluations,
  openEvaluation,
} from '../../../domain/evaluations/evaluation.ts';
import { getDetails, listResults } from '../../../domain/evaluations/results.ts';
import { deleteReport, type NewReport, storeReport } from '../../../domain/evaluations/store-report.ts';
import { lastTasks } from '../../../domain/evaluations/task.ts';
import { viewOf } from '../../caller.ts';
import { type Endpoint, endpoint } from '../endpoint.ts';
import { idField, numberInQuery, ownIdField, pageFields, pageOf, positionFields } from '../fields.ts';
import {
  caseSchema,
  evaluationDetailsSchema,
  evaluationSchema,
  listedEvaluationSchema,
  newSampleSchema,
  reportSchema,
  resultRowSchema,
  taskSchema,
} from '../schemas/evaluation.ts';

const nameField = z.string().min(1).max(200);
const deletedSchema = z.strictObject({ id: z.string() });

const newCaseSchema = z.strictObject({
  runId: idField,
  name: nameField.optional().meta({ description: 'Default: the first words of what was asked.' }),
  expected: z.string().max(100_000).optional().meta({ description: 'Default: the response of the run.' }),
});

const newReportSchema = z.strictObject({
  id: ownIdField.meta({ description: 'Samples with the id of a report that exists are added to it.' }),
  version: nameField.meta({ description: 'What was evaluated, e.g. `v3` or `shorter prompt`.' }),
  from: z
    .int()
    .min(0)
    .max(10_000)
    .optional()
    .meta({ description: 'The place of the first sample in the report. Default 0.' }),
  samples: z.array(newSampleSchema).min(1).max(1_000),
});

/** Cases and results of evaluations. `lastcall eval` runs them: see docs/evaluations.md. */
export const evaluationEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/api/evaluations',
    summary: 'List evaluations, newest first',
    access: 'key',
    query: z.strictObject({ ...pageFields, name: nameField.optional() }),
    answer: pageOf(listedEvaluationSchema),
    handle: ({ caller, query }, tx) => listEvaluations(tx.db, { ...query, view: viewOf(caller) }),
  }),
  endpoint({
    method: 'post',
    path: '/api/evaluations',
    summary: 'Create an evaluation, or get the one with this name',
    access: 'key',
    body: z.strictObject({ name: nameField }),
    answer: evaluationSchema,
    handle: ({ caller, body }, tx) => openEvaluation(tx, body.name, viewOf(caller)),
  }),
  endpoint({
    method: 'get',
    path: '/api/evaluations/{id}',
    summary: 'Get an evaluation with its newest versions',
    access: 'key',
    answer: evaluationDetailsSchema,
    handle: ({ params }, tx) => getDetails(tx.db, params.id),
  }),
  endpoint({
    method: 'delete',
    path: '/api/evaluations/{id}',
    summary: 'Delete an evaluation with its cases and results',
    access: 'key',
    answer: deletedSchema,
    handle: ({ params }, tx) => deleteEvaluation(tx, params.id),
  }),
  endpoint({
    method: 'get',
    path: '/api/evaluations/{id}/results',
    summary: 'List the cases with their results in each version, worst first',
    description: 'A page may have fewer cases than its limit, because it has at most 4 MB of texts.',
    access: 'key',
    query: z.strictObject({ ...positionFields }),
    answer: pageOf(resultRowSchema),
    handle: ({ params, query }, tx) => listResults(tx.db, params.id, query),
  }),
  endpoint({
    method: 'get',
    path: '/api/evaluations/{id}/cases',
    summary: 'List the stored cases, oldest first',
    access: 'key',
    query: z.strictObject({ ...pageFields }),
    answer: pageOf(caseSchema),
    async handle({ params, query }, tx) {
      await getEvaluation(tx.db, params.id);
      return await listCases(tx.db, params.id, query);
    },
  }),
  endpoint({
    method: 'post',
    path: '/api/evaluations/{id}/cases',
    summary: 'Add a run to an evaluation as a case',
    description:
      'The case has what was asked, the expected answer, and the run with its recorded outcomes, which is kept as long as the case. A run that is a case already gets the new name and expected answer.',
    access: 'key',
    body: newCaseSchema,
    status: 201,
    answer: caseSchema,
    handle: ({ params, body }, tx) => addCase(tx, params.id, body as NewCase),
  }),
  endpoint({
    method: 'delete',
    path: '/api/evaluations/{id}/cases/{caseId}',
    summary: 'Delete a case',
    access: 'key',
    answer: deletedSchema,
    async handle({ params }, tx) {
      await getEvaluation(tx.db, params.id);
      return await deleteCase(tx, params.id, params.caseId);
    },
  }),
  endpoint({
    method: 'post',
    path: '/api/evaluations/{id}/reports',
    summary: 'Add the results of a version to an evaluation',
    description: 'A report has at most 10,000 samples and 20 different scores.',
    access: 'key',
    body: newReportSchema,
    status: 201,
    answer: reportSchema,
    refusals: [409],
    handle: ({ params, body }, tx) => storeReport(tx, params.id, body as NewReport),
  }),
  endpoint({
    method: 'delete',
    path: '/api/evaluations/{id}/reports/{reportId}',
    summary: 'Delete the results of a version',
    access: 'key',
    answer: deletedSchema,
    async handle({ params }, tx) {
      await getEvaluation(tx.db, params.id);
      return await deleteReport(tx, params.id, params.reportId);
    },
  }),
  endpoint({
    method: 'get',
    path: '/api/agents/{id}/tasks',
    summary: 'List the last completed tasks of an agent, newest first',
    description:
      'What was asked, answered and called, from the runs that began a turn. Fork them to try a change on them.',
    access: 'key',
    query: z.strictObject({ ...pageFields, limit: numberInQuery({ min: 1, max: 50 }).optional() }),
    answer: pageOf(taskSchema),
    async handle({ params, query }, tx) {
      await getAgent(tx.db, params.id);
      return await lastTasks(tx.db, params.id, query);
    },
  }),
];
