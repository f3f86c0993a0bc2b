import fc from 'fast-check';
import { seedOfTheDay } from './seed-of-the-day.js';

// Before each file of tests (vitest.config.ts).
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: seedOfTheDay });
