import { startDesk } from './start.ts';

const { url } = await startDesk();
console.log(`Open ${url} and answer a customer.`);
