/** The bundler takes style sheets along with the scripts that name them. */
declare module '*.css';
