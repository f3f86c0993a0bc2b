// Loaded before a gateway of a benchmark: its audit writes nothing, so that its cost is the difference.
import { registerHooks } from 'node:module';

registerHooks({
  load(url, context, nextLoad) {
    if (!url.endsWith('/domain/audit/write-audit.ts')) return nextLoad(url, context);
    return { format: 'module', source: 'export function writeAudit() {}', shortCircuit: true };
  },
});
