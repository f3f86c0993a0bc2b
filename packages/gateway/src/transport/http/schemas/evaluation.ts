import { z } from 'zod';
import { idField, projectField } from '../fields.ts';

/** JSON has no infinity: a bound that is not known is null. */
const bound = z.number().nullable().meta({ description: 'Null: not known, because there is only one value.' });

const estimateSchema = z
  .strictObject({
    mean: z.number().nullable(),
    low: bound,
    high: bound,
    n: z.int().meta({ description: 'The number of values.' }),
  })
  .meta({
    id: 'Estimate',
    description: 'A mean, and the interval in which the true value lies with a confidence of 95 %.',
  });

const differenceSchema = z
  .strictObject({
    mean: z.number().meta({ description: 'After minus before.' }),
    p: z.number().meta({ description: 'How likely a difference at least as large is, if there is none.' }),
    n: z.int().meta({ description: 'The number of cases that both have.' }),
    verdict: z.enum(['better', 'worse', 'may be chance', 'same']),
  })
  .meta({ id: 'Difference', description: 'What changed between two versions, case by case.' });

const reportFields = {
  id: z.string(),
  version: z.string(),
  scores: z.record(z.string(), estimateSchema),
  samples: z.int(),
  failed: z.int(),
  tokens: z.int().optional(),
  cost: z.number().optional(),
  createdAt: z.int(),
};

export const reportSchema: z.ZodType = z
  .strictObject(reportFields)
  .meta({ id: 'EvaluationReport', description: 'The results of one version.' });

const comparedReportSchema = z
  .strictObject({
    ...reportFields,
    change: z
      .record(z.string(), differenceSchema)
      .optional()
      .meta({ description: 'Of each score: what changed since the version before.' }),
  })
  .meta({ id: 'ComparedReport', description: 'The results of one version, beside the one before it.' });

const evaluationFields = {
  id: z.string(),
  project: projectField,
  name: z.string(),
  createdAt: z.int(),
};

export const evaluationSchema: z.ZodType = z
  .strictObject(evaluationFields)
  .meta({ id: 'Evaluation', description: 'Cases and reports that belong together.' });

const listedFields = {
  ...evaluationFields,
  cases: z.int().meta({ description: 'How many cases are stored.' }),
  reports: z.int().meta({ description: 'How many reports are stored.' }),
  newest: reportSchema.optional(),
};

export const listedEvaluationSchema: z.ZodType = z
  .strictObject(listedFields)
  .meta({ id: 'ListedEvaluation', description: 'An evaluation, and its newest results.' });

export const evaluationDetailsSchema: z.ZodType = z
  .strictObject({
    ...listedFields,
    versions: z.array(comparedReportSchema).meta({ description: 'The newest first, at most eight.' }),
  })
  .meta({ id: 'EvaluationDetails', description: 'An evaluation with its newest versions.' });

export const caseSchema: z.ZodType = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    input: z.string().meta({ description: 'What was asked.' }),
    expected: z.string().meta({ description: 'The expected answer.' }),
    runId: z.string().meta({ description: 'The run with the recorded outcomes.' }),
    createdAt: z.int(),
  })
  .meta({ id: 'EvaluationCase', description: 'A recorded run as a task with its expected answer.' });

const callsSchema = z.array(z.strictObject({ toolName: z.string().max(200), status: z.string().max(50) })).max(1_000);

const sampleFields = {
  sample: z.int().min(1).max(10_000).meta({ description: 'Counts from 1 for each case.' }),
  scores: z
    .record(
      z.string().min(1).max(200),
      z.strictObject({ value: z.number().min(-1e9).max(1e9), reason: z.string().max(10_000).optional() }),
    )
    .meta({
      description: 'By the name of the score. Empty if the run failed.',
    }),
  response: z.string().optional().meta({ description: 'At most 4,000 characters are stored.' }),
  calls: callsSchema.optional(),
  error: z.string().optional().meta({ description: 'Set if the run failed.' }),
  ms: z.number().min(0).max(1e12),
  // The gateway adds them up.
  tokens: z.int().min(0).max(1e12).optional(),
  cost: z.number().min(0).max(1e12).optional(),
  runId: idField.optional().meta({
    description: 'Its run, if this gateway ran it. Of a run that was deleted meanwhile, only the scores are stored.',
  }),
};

export const newSampleSchema: z.ZodType = z
  .strictObject({ case: z.string().min(1).max(500), ...sampleFields })
  .meta({ id: 'NewEvaluationSample', description: 'One run of one case.' });

export const resultRowSchema: z.ZodType = z
  .strictObject({
    case: z.string(),
    cells: z
      .array(
        z.strictObject({
          reportId: z.string(),
          value: z.number().meta({ description: 'The mean of all its scores.' }),
          samples: z.array(z.strictObject(sampleFields)).meta({ description: 'The first 100.' }),
        }),
      )
      .meta({ description: 'One for each version that has the case, the newest first.' }),
  })
  .meta({ id: 'EvaluationResult', description: 'A case in all versions.' });

export const taskSchema: z.ZodType = z
  .strictObject({
    runId: z.string(),
    status: z.string(),
    input: z.string().meta({ description: 'What was asked.' }),
    response: z.string().optional(),
    calls: callsSchema.meta({ description: 'In order, of all runs of its turn.' }),
    tokens: z.int().optional(),
    createdAt: z.int(),
  })
  .meta({ id: 'Task', description: 'What a run was asked to do, and what it answered.' });
