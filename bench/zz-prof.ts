import { lastcallRun, lastcallStream } from './overhead/lastcall.ts';
const c = process.argv[2] === 'stream' ? lastcallStream : lastcallRun;
const n = process.argv[2] === 'stream' ? 2000 : 10000;
for (let i=0;i<n;i++) await c.run(20);
