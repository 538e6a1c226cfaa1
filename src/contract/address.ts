/** Where a service listens if nobody says otherwise. */
export const HOST = '127.0.0.1';
export const PORT = 8310;
