import { expect, test } from 'vitest';
import { deleteCase, listCases } from '../../src/domain/evaluations/cases.ts';
import { listEvaluations, newestReports, openEvaluation } from '../../src/domain/evaluations/evaluation.ts';
import { deleteReport, storeReport } from '../../src/domain/evaluations/store-report.ts';
import { newId } from '../../src/domain/new-id.ts';
import { createProject } from '../../src/domain/projects/project.ts';
import { toJson } from '../../src/ports/store/schema/json.ts';
import { describeIdleWorld } from '../support/describe-worlds.ts';

describeIdleWorld('the cases of an evaluation', ({ world }) => {
  test('[E7] a page of cases has a limited size, however long their texts are, and no case is left out', async () => {
    const { id } = await world.in((tx) => openEvaluation(tx, 'long', {}));
    const text = toJson('a'.repeat(100_000));
    const names = Array.from({ length: 50 }, (_, at) => `case ${at + 10}`);
    await world.in(async ({ db, now }) => {
      const row = { evaluation_id: id, input: text, expected: text, created_at: now() };
      for (const name of names)
        await db
          .insertInto('evaluation_cases')
          .values({ ...row, id: newId(), name, run_id: newId() })
          .execute();
      // One case that is larger than a page.
      const large = { ...row, id: newId(), name: 'large', run_id: newId(), input: toJson('b'.repeat(5_000_000)) };
      await db.insertInto('evaluation_cases').values(large).execute();
    });
    const listed: string[] = [];
    const sizes: number[] = [];
    let cursor: string | undefined;
    do {
      const page = await listCases(world.store.db, id, { limit: 200, cursor });
      listed.push(...page.items.map(({ name }) => name));
      sizes.push(JSON.stringify(page.items).length);
      cursor = page.next;
    } while (cursor !== undefined);
    expect(listed).toEqual([...names, 'large']);
    expect(sizes.slice(0, -1).every((size) => size < 4_100_000)).toBe(true);
    expect(sizes).toHaveLength(4);
    expect((await listCases(world.store.db, id, { limit: 3 })).items.map(({ name }) => name)).toEqual(
      names.slice(0, 3),
    );
  });

  test('[E6] [E7] a case or a report is changed and deleted only through its own evaluation', async () => {
    const [one, two] = [
      await world.in((tx) => openEvaluation(tx, 'one', {})),
      await world.in((tx) => openEvaluation(tx, 'two', {})),
    ];
    const row = { evaluation_id: one.id, input: toJson('a'), expected: toJson('b'), created_at: 1 };
    const caseId = newId();
    await world.in(({ db }) =>
      db
        .insertInto('evaluation_cases')
        .values({ ...row, id: caseId, name: 'c', run_id: newId() })
        .execute(),
    );
    const samples = [{ case: 'c', sample: 1, scores: {}, ms: 1 }];
    const report = { id: newId(), version: 'v1', samples };
    await world.in((tx) => storeReport(tx, one.id, report));
    await expect(world.in((tx) => deleteCase(tx, two.id, caseId))).rejects.toMatchObject({ code: 'not_found' });
    await expect(world.in((tx) => deleteReport(tx, two.id, report.id))).rejects.toMatchObject({ code: 'not_found' });
    await expect(world.in((tx) => storeReport(tx, two.id, report))).rejects.toMatchObject({ code: 'id_taken' });
    // The place of the last sample counts, and not that of the first.
    await expect(world.in((tx) => storeReport(tx, one.id, { ...report, from: 10_000 }))).rejects.toMatchObject({
      code: 'too_large',
    });
    expect((await listCases(world.store.db, one.id, {})).items).toHaveLength(1);
    expect(await newestReports(world.store.db, one.id, 5)).toMatchObject([{ id: report.id, samples: 1 }]);
    await world.in((tx) => deleteCase(tx, one.id, caseId));
    await world.in((tx) => deleteReport(tx, one.id, report.id));
    expect((await listCases(world.store.db, one.id, {})).items).toEqual([]);
  });

  test('[E6] [O1] the list has only the evaluations of the project', async () => {
    await world.in((tx) => createProject(tx, { id: 'elsewhere' }));
    const own = await world.in((tx) => openEvaluation(tx, 'shared name', { project: 'elsewhere' }));
    const other = await world.in((tx) => openEvaluation(tx, 'shared name', { project: 'default' }));
    const listed = async (project: string) =>
      (await listEvaluations(world.store.db, { name: 'shared name', view: { project } })).items.map(({ id }) => id);
    expect(await listed('elsewhere')).toEqual([own.id]);
    expect(await listed('default')).toEqual([other.id]);
  });
});
