@echo off
rem Starts the command line on the Node that was packed with it.
"%~dp0node.exe" "%~dp0..\app\platen.js" %*
