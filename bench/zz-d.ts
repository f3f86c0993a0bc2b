import { dispatchCall, tool, createSession } from '@lastcall/core';
import { z } from 'zod';
const add = tool({ description: 'x', inputSchema: z.object({ a: z.number(), b: z.number() }), execute: async ({ a, b }) => a + b });
const tools = { add }; const session = createSession();
const call = { toolName: 'add', input: '{"a":1,"b":2}' };
for (let k=0;k<8;k++){ const t=performance.now(); for(let i=0;i<50000;i++) await dispatchCall({tools, session, call}); console.log('dispatch', ((performance.now()-t)*1000/50000).toFixed(2)); }
