import fc from 'fast-check';

// Before each file of tests. vitest.config.ts sets SEED.
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env.SEED) });
