import { startOwnCard } from './start.ts';

const { url } = await startOwnCard();
console.log(`Open ${url} and ask for seats.`);
