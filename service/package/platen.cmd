@echo off
rem Starts the command line on the Node that was packed with it, by default for the data of the installed service.
if not defined PLATEN_DATA if exist "%ProgramData%\Platen\data" set "PLATEN_DATA=%ProgramData%\Platen\data"
"%~dp0node.exe" "%~dp0..\app\platen.js" %*
