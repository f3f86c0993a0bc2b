import { tool } from '@lastcall/core';
import { scriptedModel } from '@lastcall/core/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { schemaForModel, sentTools } from '../../src/models/model-schema.ts';
import { describeWorlds } from '../support/describe-worlds.ts';
import { isFirstStep, resultsOf } from '../support/requests.ts';

const inputSchema = z.strictObject({
  code: z
    .string()
    .regex(/^[A-Z]{3}$/)
    .describe('Three capital letters.'),
  email: z.email().optional(),
  count: z.int().optional(),
  amount: z.number().min(1).max(100),
  tags: z.array(z.enum(['a', 'b']).or(z.string().max(5))).max(3),
});

describe('[K6] a schema for a model', () => {
  test('it has types, descriptions, enums, formats and selected bounds, and no keywords that only the gateway checks', () => {
    expect(schemaForModel(z.toJSONSchema(inputSchema) as never)).toEqual({
      type: 'object',
      properties: {
        code: { type: 'string', description: 'Three capital letters.' },
        email: { type: 'string', format: 'email' },
        count: { type: 'integer' },
        amount: { type: 'number', minimum: 1, maximum: 100 },
        tags: { type: 'array', items: { anyOf: [{ type: 'string', enum: ['a', 'b'] }, { type: 'string' }] } },
      },
      required: ['code', 'amount', 'tags'],
    });
  });

  test('a property that is called like a keyword stays, and so does what a condition needs', () => {
    const schema = {
      type: 'object',
      properties: { pattern: { type: 'string', pattern: 'x' }, maxLength: { type: 'number' } },
      required: ['pattern'],
      not: { properties: { pattern: { pattern: '^a' } } },
      additionalProperties: { type: 'string', minLength: 1 },
      $defs: { minLength: { type: 'string', minLength: 2 } },
    };
    expect(schemaForModel(schema as never)).toEqual({
      type: 'object',
      properties: { pattern: { type: 'string' }, maxLength: { type: 'number' } },
      required: ['pattern'],
      not: { properties: { pattern: { pattern: '^a' } } },
      additionalProperties: { type: 'string' },
      $defs: { minLength: { type: 'string' } },
    });
  });

  test('the names that a record may have stay, and other rules for names do not', () => {
    const chosen = z.partialRecord(z.enum(['red', 'blue']), z.string().min(1));
    expect(schemaForModel(z.toJSONSchema(chosen) as never)).toEqual({
      type: 'object',
      propertyNames: { type: 'string', enum: ['red', 'blue'] },
      additionalProperties: { type: 'string' },
    });
    const any = z.record(z.string().regex(/^[a-z]+$/), z.number());
    expect(schemaForModel(z.toJSONSchema(any) as never)).toEqual({
      type: 'object',
      additionalProperties: { type: 'number' },
    });
  });

  test('a strict tool and the rehearsal get the whole schema, and the same list gives the same list', () => {
    const whole = { type: 'object', properties: {}, additionalProperties: false } as const;
    const tools = [
      { type: 'function' as const, name: 'plain', inputSchema: whole },
      { type: 'function' as const, name: 'strict', inputSchema: whole, strict: true },
    ];
    const { tools: sent = [] } = sentTools({ tools }, { provider: 'openai.responses' });
    expect(sent).toMatchObject([{ inputSchema: { type: 'object', properties: {} } }, { inputSchema: whole }]);
    expect(sent[0]).not.toMatchObject({ inputSchema: whole });
    expect(sentTools({ tools }, { provider: 'openai.responses' }).tools).toBe(sent);
    expect(sentTools({ tools }, { provider: 'lastcall.rehearsal' }).tools).toBe(tools);
    expect(sentTools({}, { provider: 'x' })).toEqual({});
  });

  test('another list with the same schema gives the same schema, and a schema that is no object stays as it is', () => {
    const inputSchema = { type: 'object', properties: { name: { type: 'string', minLength: 1 } } } as const;
    const send = () => {
      const tools = [{ type: 'function' as const, name: 'plain', inputSchema }];
      return sentTools({ tools }, { provider: 'openai.responses' }).tools?.[0] as { readonly inputSchema: unknown };
    };
    expect(send().inputSchema).toEqual({ type: 'object', properties: { name: { type: 'string' } } });
    expect(send().inputSchema).toBe(send().inputSchema);
    expect(schemaForModel(true as never)).toBe(true);
  });
});

describeWorlds('schemas that are sent', (open) => {
  test('[K6] no tool is sent with keywords that only the gateway checks, and inputs are checked completely', async () => {
    const model = scriptedModel((request) =>
      isFirstStep(request) ? [{ toolName: 'buy', input: { code: 'abc', amount: 5, tags: [] } }] : 'Done.',
    );
    const buy = tool({ description: 'Buys.', inputSchema, execute: () => 'Bought.' });
    const world = await open({ models: { default: model }, tools: { buy: { tool: buy, visible: false } } });
    const [ada, bot] = [await world.person('Ada'), await world.agent('Bot', { tools: ['buy'] })];
    await world.say(await world.space('Lobby', [ada, bot]), ada, 'Go');
    await world.idle();
    expect(model.requests[0]?.tools?.length).toBeGreaterThan(10);
    expect(JSON.stringify(model.requests[0]?.tools)).not.toMatch(
      /"(\$schema|pattern|minLength|maxLength|minItems|maxItems|additionalProperties)"/,
    );
    const [result] = resultsOf(model.requests[1] as never);
    expect(result?.text).toMatch(/code/);
    expect(result?.text).not.toBe('Bought.');
  });
});
