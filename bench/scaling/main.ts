// `npm run scaling` measures what a message costs, checks the simulation against two real gateways, and writes the figures of docs/scaling.md.
import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus } from 'node:os';
import { openDatabases } from '../gateway/databases.ts';
import { toFigures } from './figures.ts';
import { type Measured, measureAll } from './measured.ts';

const PAGE = new URL('../../docs/scaling.md', import.meta.url);
const [BEGIN, END] = ['<!-- The figures are written by `npm run scaling`. -->', '<!-- End of the figures. -->'];

const databases = openDatabases();
let measured: Measured;
try {
  measured = await measureAll(databases);
} finally {
  await databases.close();
}
const machine = `${availableParallelism()} × ${cpus()[0]?.model.trim() ?? 'unknown processor'}`;
const madeOn = `${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${machine}`;
const figures = toFigures(measured, madeOn);
console.log(figures);
const page = await readFile(PAGE, 'utf8');
const [before = '', rest = ''] = page.split(BEGIN);
const [, after = ''] = rest.split(END);
await writeFile(PAGE, `${before}${BEGIN}\n\n${figures}\n\n${END}${after}`);
// Not exitCode: the exit hook of the database server would reset it.
process.exit(0);
