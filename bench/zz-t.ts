import { lastcallRun } from './overhead/lastcall.ts';
import { bareLoop } from './overhead/bare-loop.ts';
const list = [[lastcallRun, 300], [bareLoop, 2000]] as const;
const all: number[][] = [[], []];
for (let k=0;k<40;k++) for (const [j,[c,N]] of list.entries()) { const cu=process.cpuUsage(); for(let i=0;i<N;i++) await c.run(20); const u=process.cpuUsage(cu); if (k>9) all[j]!.push((u.user+u.system)/N/20); }
for (const a of all) a.sort((a,b)=>a-b);
const m = all.map(a=>a[15]!), q = all.map(a => a[3]!);
console.log(process.cwd().slice(-12), 'median', m.map(x=>x.toFixed(2)).join(' / '), 'ratio', (m[0]!/m[1]!).toFixed(2), ' p10', q.map(x=>x.toFixed(2)).join(' / '), 'ratio', (q[0]!/q[1]!).toFixed(2));
